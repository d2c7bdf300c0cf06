// Starts Swagger UI on the description that this server gives of itself.
window.ui = window.SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#swagger-ui",
  // Its validator is on the internet, and would be told the address of this server.
  validatorUrl: null,
});
