/** Rows of the contract: media of assets for pages. */
import { expect } from "bun:test";
import { video } from "../../http/media";
import { until } from "../../until";
import type { DashboardRow } from "./dashboard-fixtures";

type Media = { is_preview_ready: boolean; video_type: string | null; audio_type: string | null };

export const assetMediaRows: DashboardRow[] = [
  [
    "The dashboard plays media from its own session-authenticated routes, not from signed links. The storyboard and waveform.bin come from the preparation; the browser preview is made afterwards at the lowest priority, and pieces can be read before",
    async ({ server, call, getOutcome, user }) => {
      const keyed = await server.user();
      const asset = await keyed.ready(await video(2));
      const path = `/assets/${asset.id}`;
      const partial = await call("GET", `${path}/transcript/partial?from=2`, { as: keyed });
      expect(partial.body).toEqual({ run: 0, from: 0, text: [], start: [], end: [] });
      expect(asset.preview_url).toBeNull();
      expect(await getOutcome("GET", `${path}/preview`, { as: keyed })).toBe("409 asset_processing");
      const early = [
        "waveform",
        "storyboard",
        "storyboard/0",
        "pieces/video?from=0&to=1",
        "pieces/video?variant=source&from=0.5&to=1",
      ];
      for (const name of early)
        expect([name, await getOutcome("GET", `${path}/${name}`, { as: keyed })]).toEqual([name, "200"]);
      const media = await until("the preview", async () => {
        const { body } = await call<Media>("GET", `${path}/media`, { as: keyed });
        return body.is_preview_ready ? body : null;
      });
      expect(media).toMatchObject({
        video_type: 'video/mp4; codecs="avc1.640028"',
        audio_type: 'audio/mp4; codecs="mp4a.40.2"',
      });
      const files = [
        "poster",
        "filmstrip",
        "envelope",
        "preview",
        "waveform",
        "loudness",
        "storyboard",
        "storyboard/0",
      ];
      const pieces = ["pieces/video?from=0&to=1", "pieces/audio?from=0.5&to=1.5"];
      for (const name of [...files, "transcript", ...pieces])
        expect([name, await getOutcome("GET", `${path}/${name}`, { as: keyed })]).toEqual([name, "200"]);
      // Its files exist a moment before the asset shows it.
      await until("the link", async () => (await keyed.asset(asset.id)).preview_url);
      expect(await getOutcome("GET", `${path}/media`, { as: await user() })).toBe("404 not_found");
    },
  ],
];
