fetch("/api/consent-klaro/article")
  .then((answer) => answer.text())
  .then((html) => {
    document.getElementById("root").innerHTML = html;
    klaro.getManager(klaroConfig).applyConsents();
  });
