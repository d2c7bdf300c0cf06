/** Files that the build embeds: SQL as text, scripts and styles for the browser as a path. */
declare module "*.sql" {
  const text: string;
  export default text;
}
declare module "swagger-ui-dist/swagger-ui-bundle.js" {
  const path: string;
  export default path;
}
declare module "swagger-ui-dist/swagger-ui.css" {
  const path: string;
  export default path;
}
declare module "*/web/index.js" {
  const text: string;
  export default text;
}
declare module "*/web/docs.js" {
  const text: string;
  export default text;
}
declare module "*/web/index.css" {
  const text: string;
  export default text;
}
