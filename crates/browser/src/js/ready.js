// Waits until fonts and the pictures in view are loaded, for at most `patience` ms. Runs in an isolated world.
// Returns {width, height, scale} of the window.
async function (patience) {
  const end = new Promise((resolve) => setTimeout(resolve, patience));
  const near = (image) => {
    const box = image.getBoundingClientRect();
    return box.width > 0 && box.bottom > 0 && box.top < innerHeight;
  };
  const come = (image) => image.complete ? null : new Promise((resolve) => {
    image.addEventListener('load', resolve, { once: true });
    image.addEventListener('error', resolve, { once: true });
  });
  const images = Array.from(document.images).filter(near).slice(0, 100);
  const decoded = images.map(async (image) => {
    await come(image);
    if (image.naturalWidth > 0) await image.decode().catch(() => {});
  });
  await Promise.race([end, Promise.all([document.fonts.ready, ...decoded])]);
  return { width: innerWidth, height: innerHeight, scale: devicePixelRatio };
}
