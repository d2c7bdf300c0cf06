/** A webhook receiver: an HTTP server that responds as configured and records its requests. */

export type Received = { path: string; headers: Headers; body: string; at: number };
export type Receiver = AsyncDisposable & {
  url: string;
  received: Received[];
  /** The responses to the next requests; the last one is repeated. `hang` never responds. */
  answer(...answers: (number | "hang" | "redirect")[]): void;
  /** Stops listening, and listens again on the same port. */
  goAway(): Promise<void>;
  comeBack(): void;
};

/** Starts a receiver on a free local port. */
export function receiver(): Receiver {
  const received: Received[] = [];
  let answers: (number | "hang" | "redirect")[] = [204];
  const listen = (port: number) =>
    Bun.serve({
      port,
      hostname: "127.0.0.1",
      fetch: async (request) => {
        const { pathname } = new URL(request.url);
        received.push({ path: pathname, headers: request.headers, body: await request.text(), at: Date.now() });
        const answer = answers.length > 1 ? answers.shift()! : answers[0]!;
        if (answer === "hang") return new Promise<Response>(() => {});
        if (answer === "redirect") return new Response(null, { status: 302, headers: { Location: "/elsewhere" } });
        return new Response(answer === 204 ? null : "said in confidence", { status: answer });
      },
    });
  let server = listen(0);
  const port = server.port!;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    answer: (...next) => {
      answers = next;
    },
    goAway: () => server.stop(true),
    comeBack: () => {
      server = listen(port);
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
