SwaggerUIBundle({ url: "/api/redoc-swagger/openapi.json", dom_id: "#root", docExpansion: "list" });
