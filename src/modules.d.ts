/** Types of the files that the build embeds: SQL as text, browser scripts and styles as a path or text. */
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
declare module "*/web/failure.css" {
  const text: string;
  export default text;
}
