var klaroConfig = {
  noticeAsModal: true,
  services: [{ name: "map", title: "Map", purposes: ["functional"], contextualConsentOnly: false }],
};
