import PhotoSwipeLightbox from "photoswipe/lightbox";
import Quill from "quill";
import Swal from "sweetalert2";

const PICTURES = 40;
const broken = new URLSearchParams(location.search).has("broken");
const pick = broken ? "choose" : "pick";

function picture(number) {
  const colour = `hsl(${number * 9}, 60%, 50%)`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="120" height="90"><rect width="120" height="90" fill="${colour}"/></svg>`;
  const url = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  const button = number % 16 === 1 ? `<button class="${pick}">Pick ${number}</button>` : "";
  return `<div class="picture"><a href="${url}" data-pswp-width="120" data-pswp-height="90"><img src="${url}" alt="" width="120" height="90"></a>${button}</div>`;
}

function count() {
  const picked = document.querySelectorAll(".picked").length;
  document.getElementById("picked").textContent = `${picked} of ${PICTURES} pictures picked`;
}

function showGallery() {
  const pictures = Array.from({ length: PICTURES }, (_, index) => picture(index + 1));
  const gallery = document.getElementById("gallery");
  gallery.innerHTML = `<div style="height: 1600px"></div><p id="picked"></p>${pictures.join("")}`;
  gallery.addEventListener("click", (event) => {
    if (event.target.matches(`.${pick}`)) {
      event.target.closest(".picture").classList.toggle("picked");
      count();
    }
  });
  new PhotoSwipeLightbox({ gallery, children: "a", pswpModule: () => import("photoswipe") }).init();
  count();
}

function showEditor() {
  const quill = new Quill("#editor", { theme: "snow" });
  quill.root.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      document.getElementById("said").textContent = `You wrote: ${quill.getText().trim()}`;
    }
  });
}

showGallery();
Swal.fire({ title: "Welcome back", allowOutsideClick: false }).then(showEditor);
