export const elysiajsTheme = "";
