import Swiper from "swiper";
import { Autoplay } from "swiper/modules";

const answer = await fetch("/api/swiper-lazy/slides");
const names = await answer.json();
const slides = names.map((name, index) => `<div class="swiper-slide"><h2>Slide ${index + 1}: ${name}</h2></div>`);
document.getElementById("root").innerHTML = `<div class="swiper"><div class="swiper-wrapper">${slides.join("")}</div></div>`;
new Swiper(".swiper", { modules: [Autoplay], autoplay: { delay: 500, disableOnInteraction: false }, speed: 300, rewind: true });
