import { describe, expect, test } from "bun:test";
import { splitPage } from "../../../src/http/docs";

const BUNDLE = '<script src="https://unpkg.com/swagger-ui-dist@5.9.0/swagger-ui-bundle.js" crossorigin></script>';
const START = "<script>\n  start({});\n</script>";
const PAGE = `<html><head><link rel="stylesheet" href="/docs/swagger-ui.css" /></head><body>\n${BUNDLE}\n${START}\n</body></html>`;

test("the scripts of the page move to paths of this server", () => {
  const { html, start } = splitPage(PAGE);
  expect(start.trim()).toBe("start({});");
  expect([...html.matchAll(/<script.*?<\/script>/gs)].map(([script]) => script)).toEqual([
    '<script src="/docs/swagger-ui.js"></script>',
    '<script src="/docs/start.js"></script>',
  ]);
});

describe("a page with anything else is refused:", () => {
  test.each([
    ["no inline script", PAGE.replace(START, "")],
    ["no script of Swagger UI", PAGE.replace(BUNDLE, "")],
    ["a script between the two", PAGE.replace(START, `<script src="/other.js"></script>${START}`)],
    ["a second inline script", PAGE.replace("</body>", "<script>more()</script></body>")],
    ["a script with a type", PAGE.replace("</body>", '<script type="module">more()</script></body>')],
    ["a style sheet of another server", PAGE.replace("/docs/swagger-ui.css", "https://cdn.example/ui.css")],
    ["a style sheet of another server, by any protocol", PAGE.replace("/docs/swagger-ui.css", "//cdn.example/ui.css")],
    ["a script that loads from another server", PAGE.replace("start({})", 'load("https://cdn.example/ui.js")')],
    ["a style element", PAGE.replace("</head>", "<style>a {}</style></head>")],
    ["a style attribute", PAGE.replace("<body>", '<body style="color: red">')],
    ["an event handler", PAGE.replace("<body>", '<body onload="start()">')],
  ])("%s", (_, page) => {
    expect(() => splitPage(page)).toThrow("has changed");
  });
});
