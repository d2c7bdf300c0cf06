/** The recording that an empty server offers. */
declare const DEMO_TALK_URL: string;

/** Declares modules for the examples that pages show as text. */
declare module "*.mjs" {
  const text: string;
  export default text;
}
declare module "*.py" {
  const text: string;
  export default text;
}
declare module "*.sh" {
  const text: string;
  export default text;
}
