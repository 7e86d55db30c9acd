tarteaucitron.init({
  privacyUrl: "",
  hashtag: "#tarteaucitron",
  cookieName: "tarteaucitron",
  orientation: "middle",
  highPrivacy: true,
  AcceptAllCta: true,
  showAlertSmall: false,
  removeCredit: false,
  useExternalCss: false,
});
tarteaucitron.user.gtagUa = "none";
(tarteaucitron.job = tarteaucitron.job || []).push("youtube");
document.addEventListener("youtube_consentGiven", () => document.getElementById("root").removeAttribute("aria-hidden"));

fetch("/api/cookie-wall/report")
  .then((answer) => answer.text())
  .then((html) => (document.getElementById("root").innerHTML = html));
