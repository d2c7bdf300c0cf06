/** JSON for programs: the plan and its timeline. */
import type { PlanJson } from "../plan-json";
import { getTimecodeFormats, type Timeline } from "./model";
import { formatTimecode } from "./timecode";

/** Formats the plan's own fields and, under `timeline`, everything in frames of the timeline's rate. */
export function formatJson(timeline: Timeline, plan: PlanJson): string {
  const { media, rate } = timeline;
  return `${JSON.stringify(
    {
      ...plan,
      timeline: {
        layout: timeline.layout,
        name: timeline.title,
        frame_rate: rate,
        drop_frame: timeline.dropFrame,
        length: timeline.length,
        clips: timeline.clips,
        alternates: timeline.alternates,
        markers: timeline.markers,
        media: {
          name: media.name,
          url: media.url,
          length: media.length,
          start_timecode: formatTimecode(media.start.frame, getTimecodeFormats(timeline).source),
          start_frame: media.start.frame,
          video: media.video && { width: media.video.width, height: media.video.height },
          audio: media.audio && { channels: media.audio.channels, sample_rate: media.audio.sampleRate },
        },
        warnings: timeline.warnings,
      },
    },
    null,
    2,
  )}\n`;
}
