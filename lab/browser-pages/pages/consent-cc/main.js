import * as CookieConsent from "vanilla-cookieconsent";

CookieConsent.run({
  disablePageInteraction: true,
  hideFromBots: false,
  categories: { necessary: { enabled: true, readOnly: true }, analytics: {} },
  language: {
    default: "en",
    translations: {
      en: {
        consentModal: {
          title: "We use cookies",
          description: "They help us to understand how this page is read, and by whom, and for how long.",
          acceptAllBtn: "Accept all",
          acceptNecessaryBtn: "Reject all",
          showPreferencesBtn: "Manage preferences",
        },
        preferencesModal: { title: "Preferences", acceptAllBtn: "Accept all", savePreferencesBtn: "Save", sections: [] },
      },
    },
  },
});

const answer = await fetch("/api/consent-cc/article");
document.getElementById("root").innerHTML = await answer.text();
