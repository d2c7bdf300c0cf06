/** A receiver of webhooks: a real HTTP server that answers as it is told and keeps what it got. */

export type Received = { path: string; headers: Headers; body: string; at: number };
export type Receiver = AsyncDisposable & {
  url: string;
  received: Received[];
  /** How the next requests are answered; the last answer stays. `hang` never answers. */
  answer(...answers: (number | "hang" | "redirect")[]): void;
  /** Stops listening, and listens again on the same port. */
  goAway(): Promise<void>;
  comeBack(): void;
};

/** Starts it on a free port of this machine. */
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
