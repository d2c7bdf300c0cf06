/** Creates the sample entry of a track that browsers may play: the box in `stsd` with its decoder configuration. */
import {
  BufferTarget,
  EncodedAudioPacketSource,
  type EncodedPacket,
  EncodedVideoPacketSource,
  type InputAudioTrack,
  type InputVideoTrack,
  Mp4OutputFormat,
  Output,
} from "mediabunny";
import { AUDIO_ENTRY_BYTES, toBytes, toView } from "../packets/mp4-boxes";
import { findChildBox } from "../packets/mp4-structure";

/** Returns the sample entry, or null if MP4 cannot contain the codec. `first` is the first packet of the track. */
export async function createSampleEntry(
  track: InputVideoTrack | InputAudioTrack,
  first: EncodedPacket,
): Promise<Uint8Array | null> {
  const codec = await track.getCodec();
  const config = await track.getDecoderConfig();
  if (codec === null || config === null) return null;
  const format = new Mp4OutputFormat({ fastStart: "in-memory" });
  const target = new BufferTarget();
  const output = new Output({ format, target });
  const packet = first.clone({ timestamp: 0, duration: Math.max(0.001, first.duration), type: "key" });
  if (track.isVideoTrack()) {
    const found = format.getSupportedVideoCodecs().find((one) => one === codec);
    if (found === undefined) return null;
    const source = new EncodedVideoPacketSource(found);
    output.addVideoTrack(source);
    await output.start();
    await source.add(packet, { decoderConfig: config as VideoDecoderConfig });
  } else {
    const found = format.getSupportedAudioCodecs().find((one) => one === codec);
    if (found === undefined) return null;
    const source = new EncodedAudioPacketSource(found);
    output.addAudioTrack(source);
    await output.start();
    await source.add(packet, { decoderConfig: config as AudioDecoderConfig });
  }
  await output.finalize();
  let boxes: Uint8Array | undefined = new Uint8Array(target.buffer!);
  for (const type of ["moov", "trak", "mdia", "minf", "stbl", "stsd"]) boxes = findChildBox(boxes, type);
  return boxes === undefined ? null : withoutPreSkip(boxes.slice(8));
}

/**
 * Returns the entry without the number of samples that a decoder of Opus drops at its start: a part may start anywhere,
 * and times already count these samples.
 */
function withoutPreSkip(entry: Uint8Array): Uint8Array {
  const dOps = findChildBox(entry.subarray(AUDIO_ENTRY_BYTES), "dOps");
  dOps?.fill(0, 2, 4);
  return entry;
}

/** Returns the samples that a decoder of the track puts before the first one, by its `OpusHead`; 0 for other codecs. */
export async function readPreSkip(track: InputAudioTrack): Promise<number> {
  const { codec, description } = (await track.getDecoderConfig()) ?? {};
  if (codec !== "opus" || description === undefined) return 0;
  const bytes = toView(toBytes(description));
  return bytes.byteLength < 12 ? 0 : bytes.getUint16(10, true);
}
