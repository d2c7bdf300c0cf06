/** Loudness of a file by ffmpeg's own meter (EBU R128). */
import type { Loudness } from "../src/domain/loudness";

export async function measureByFfmpeg(ffmpegPath: string, path: string): Promise<Loudness> {
  const filter = ["-map", "0:a", "-af", "ebur128=peak=true:framelog=verbose", "-f", "null", "-"];
  const child = Bun.spawn([ffmpegPath, "-nostats", "-i", path, ...filter], { stderr: "pipe", stdin: "ignore" });
  const text = await new Response(child.stderr).text();
  const summary = text.slice(text.lastIndexOf("Summary:"));
  const [integrated, peak] = [/I:\s+(\S+) LUFS/, /Peak:\s+(\S+) dBFS/].map((pattern) =>
    Number(pattern.exec(summary)?.[1]),
  );
  return { integrated: integrated! > -70 ? integrated! : null, peak: Number.isFinite(peak) ? peak! : null };
}
