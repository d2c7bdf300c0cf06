/** A strict XML reader: elements, attributes, text, entities. Throws on anything that is not well formed. */
export type Node = { name: string; attributes: Record<string, string>; children: Node[]; text: string };

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function decode(text: string): string {
  if (/[<]/.test(text)) throw new Error(`a raw < in ${text}`);
  return text.replace(/&([^;]*);?/g, (whole, name: string) => {
    if (!whole.endsWith(";")) throw new Error(`a raw & in ${text}`);
    if (name.startsWith("#")) return String.fromCodePoint(Number(name.slice(1)));
    const sign = ENTITIES[name];
    if (sign === undefined) throw new Error(`unknown entity ${whole}`);
    return sign;
  });
}

/** Returns the root element. */
export function readXml(document: string): Node {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that XML forbids
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(document)) throw new Error("a forbidden character");
  if (!document.isWellFormed()) throw new Error("half a surrogate pair");
  const body = document.replace(/^<\?xml [^>]*\?>\n/, "").replace(/^<!DOCTYPE \w+>\n/, "");
  const stack: Node[] = [{ name: "", attributes: {}, children: [], text: "" }];
  const tag = /<(\/?)([A-Za-z][\w.-]*)((?:\s+[\w:.-]+="[^"<]*")*)\s*(\/?)>|([^<]+)/gy;
  let at = 0;
  for (let match = tag.exec(body); match; match = tag.exec(body)) {
    at = tag.lastIndex;
    const [, closes, name = "", attributes = "", empty, text] = match;
    const top = stack.at(-1)!;
    if (text !== undefined) top.text += decode(text);
    else if (closes) {
      if (top.name !== name) throw new Error(`</${name}> closes <${top.name}>`);
      stack.pop();
    } else {
      const node: Node = { name, attributes: {}, children: [], text: "" };
      for (const [, key, value] of attributes.matchAll(/([\w:.-]+)="([^"]*)"/g)) {
        if (key! in node.attributes) throw new Error(`${key} twice`);
        node.attributes[key!] = decode(value!);
      }
      top.children.push(node);
      if (!empty) stack.push(node);
    }
  }
  if (at !== body.length || stack.length !== 1) throw new Error(`not well formed at ${body.slice(at, at + 40)}`);
  const roots = stack[0]!.children;
  if (roots.length !== 1) throw new Error(`${roots.length} roots`);
  return roots[0]!;
}

export const all = (node: Node, name: string): Node[] => node.children.filter((child) => child.name === name);

/** Returns the only child with a name. */
export function one(node: Node, name: string): Node {
  const found = all(node, name);
  if (found.length !== 1) throw new Error(`${found.length} <${name}> in <${node.name}>`);
  return found[0]!;
}

/** Follows names from child to child. */
export const at = (node: Node, ...path: string[]): Node => path.reduce(one, node);

/** Lists all descendants in document order. */
export const descendants = (node: Node): Node[] => node.children.flatMap((child) => [child, ...descendants(child)]);
