/** Metrics in the text exposition format of Prometheus, version 0.0.4. */

export const PROMETHEUS_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

type MetricLabels = Record<string, string>;
type MetricSample = { labels?: MetricLabels; value: number; suffix?: "_bucket" | "_count" | "_sum" };

export type Metric = {
  name: string;
  help: string;
  type: "counter" | "gauge" | "histogram";
  samples: MetricSample[];
};

export const formatMetrics = (metrics: Metric[]): string =>
  metrics
    .flatMap(({ name, help, type, samples }) => [
      `# HELP ${name} ${escapeText(help)}`,
      `# TYPE ${name} ${type}`,
      ...samples.map(
        ({ labels, value, suffix = "" }) => `${name}${suffix}${formatLabels(labels)} ${formatValue(value)}`,
      ),
    ])
    .map((line) => `${line}\n`)
    .join("");

const escapeText = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");

function formatLabels(labels: MetricLabels = {}): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeText(value).replaceAll('"', '\\"')}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

const formatValue = (value: number): string =>
  Number.isFinite(value) || Number.isNaN(value) ? String(value) : value > 0 ? "+Inf" : "-Inf";

export type Counter<L extends MetricLabels> = { add(labels: L): void; samples(): MetricSample[] };

/** Creates a counter. The `initial` labels start at 0, so that their first increase is visible. */
export function createCounter<L extends MetricLabels>(initial: L[] = []): Counter<L> {
  const entries = new Map<string, { labels: L; value: number }>();
  const add = (labels: L, by: number) => {
    const key = JSON.stringify(labels);
    const entry = entries.get(key);
    if (entry) entry.value += by;
    else entries.set(key, { labels, value: by });
  };
  for (const labels of initial) add(labels, 0);
  return { add: (labels) => add(labels, 1), samples: () => [...entries.values()] };
}

export type Histogram<L extends MetricLabels> = { observe(labels: L, value: number): void; samples(): MetricSample[] };

/** Creates a histogram. `bounds` are the inclusive upper bounds of its buckets, ascending, without infinity. */
export function createHistogram<L extends MetricLabels>(bounds: readonly number[]): Histogram<L> {
  const entries = new Map<string, { labels: L; buckets: number[]; sum: number; count: number }>();
  return {
    observe: (labels, value) => {
      const key = JSON.stringify(labels);
      const entry = entries.get(key) ?? { labels, buckets: bounds.map(() => 0), sum: 0, count: 0 };
      entries.set(key, entry);
      for (const [index, bound] of bounds.entries()) if (value <= bound) entry.buckets[index]! += 1;
      entry.sum += value;
      entry.count += 1;
    },
    samples: () =>
      [...entries.values()].flatMap(({ labels, buckets, sum, count }): MetricSample[] => [
        ...bounds.map((bound, index) => ({
          labels: { ...labels, le: String(bound) },
          value: buckets[index]!,
          suffix: "_bucket" as const,
        })),
        { labels: { ...labels, le: "+Inf" }, value: count, suffix: "_bucket" },
        { labels, value: sum, suffix: "_sum" },
        { labels, value: count, suffix: "_count" },
      ]),
  };
}
