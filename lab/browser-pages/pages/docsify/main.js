window.$docsify = { name: "Pruning", loadSidebar: true, basePath: "/api/docsify/" };
