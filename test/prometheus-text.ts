/** Reads the text exposition format 0.0.4 of Prometheus, strictly and independently of the server's code. */

export type Scrape = {
  types: Map<string, string>;
  helps: Map<string, string>;
  /** Values by series as written, such as `up{job="a"}`. */
  values: Map<string, number>;
};

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const LABEL = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\["\\\\n])*"';
const SAMPLE = new RegExp(`^(${NAME})((?:\\{${LABEL}(?:,${LABEL})*\\})?) (-?[0-9.]+(?:e[+-]?[0-9]+)?|[+-]Inf|NaN)$`);
const COMMENT = new RegExp(`^# (HELP|TYPE) (${NAME}) (.+)$`);

/** Parses a scrape. Throws an error for the first line that is not valid. */
export function parseScrape(text: string): Scrape {
  if (!text.endsWith("\n")) throw new Error("The last line does not end.");
  const scrape: Scrape = { types: new Map(), helps: new Map(), values: new Map() };
  let current = "";
  for (const line of text.slice(0, -1).split("\n")) {
    const comment = COMMENT.exec(line);
    if (comment) {
      const [, kind, name, rest] = comment as unknown as [string, string, string, string];
      const known = kind === "HELP" ? scrape.helps : scrape.types;
      if (known.has(name)) throw new Error(`Second ${kind} of ${name}`);
      if (kind === "TYPE" && !/^(counter|gauge|histogram)$/.test(rest)) throw new Error(`Unknown type: ${line}`);
      known.set(name, rest);
      current = name;
      continue;
    }
    const sample = SAMPLE.exec(line);
    if (!sample) throw new Error(`Not a sample: ${line}`);
    const [, name, labels, value] = sample as unknown as [string, string, string, string];
    const isHistogram = scrape.types.get(current) === "histogram";
    const family = isHistogram ? name.replace(/_(bucket|sum|count)$/, "") : name;
    if (family !== current || !scrape.types.has(family) || !scrape.helps.has(family))
      throw new Error(`Sample outside of its metric: ${line}`);
    const series = `${name}${labels}`;
    if (scrape.values.has(series)) throw new Error(`Second sample of ${series}`);
    scrape.values.set(series, Number(value.replace("Inf", "Infinity")));
  }
  checkHistograms(scrape);
  return scrape;
}

/** Buckets must be cumulative, and the last must be the count. */
function checkHistograms({ values }: Scrape): void {
  const last = new Map<string, number>();
  for (const [series, value] of values) {
    const bucket = /^(.*)_bucket\{(.*),le="([^"]+)"\}$/.exec(series);
    if (!bucket) continue;
    const [, name, labels, bound] = bucket;
    if (value < (last.get(`${name}{${labels}}`) ?? 0)) throw new Error(`Not cumulative: ${series}`);
    last.set(`${name}{${labels}}`, value);
    if (bound === "+Inf" && values.get(`${name}_count{${labels}}`) !== value)
      throw new Error(`Not the count: ${series}`);
  }
}
