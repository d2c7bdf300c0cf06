/**
 * Types of the files that the build embeds: SQL, Markdown and pictures as text, browser scripts, styles, fonts and
 * WebAssembly as a path or text.
 */
declare module "*.sql" {
  const text: string;
  export default text;
}
declare module "*.md" {
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
declare module "*.woff2" {
  const path: string;
  export default path;
}
declare module "*.svg" {
  const text: string;
  export default text;
}
declare module "*.wasm" {
  const path: string;
  export default path;
}
declare module "*.css" {
  const text: string;
  export default text;
}
declare module "*/web/docs/start.js" {
  const text: string;
  export default text;
}
