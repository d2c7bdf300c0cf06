// Starts Swagger UI with the OpenAPI document of this server.
window.ui = window.SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#swagger-ui",
  // By default, Swagger UI sends the URL of the document to a validator on the internet.
  validatorUrl: null,
});
