/**
 * The codecs of recordings in the containers that `probing/sniff.ts` accepts. ffmpeg has hundreds more, for games and
 * animations, which are not maintained: their decoders never receive uploaded data.
 */

/** Codecs by ffmpeg's codec name, each with the names of other decoders. A decoder that a build lacks does no harm. */
const CODECS = [
  // Cameras, phones, browsers, screen recorders.
  "h264 hevc vvc/libvvdec av1/libdav1d/libaom-av1 vp8/libvpx vp9/libvpx-vp9 theora mpeg1video mpeg2video/mpegvideo",
  "mpeg4 h263 flv1/flv vp6 vp6a vp6f mjpeg msmpeg4v2 msmpeg4v3/msmpeg4 wmv1 wmv2 wmv3 vc1 mss2 tscc/camtasia zmbv",
  // Production and exchange.
  "prores dnxhd cfhd dvvideo ffv1 ffvhuff huffyuv utvideo magicyuv hap jpeg2000/libopenjpeg png qtrle rawvideo v210",
  "r210",
  // Audio.
  "aac aac_latm mp1/mp1float mp2/mp2float mp3/mp3float ac3 eac3 dts/dca truehd mlp opus/libopus vorbis/libvorbis",
  "speex/libspeex flac alac wavpack ape wmav1 wmav2 wmapro wmalossless wmavoice amr_nb/amrnb/libopencore_amrnb",
  "amr_wb/amrwb/libopencore_amrwb nellymoser s302m gsm/libgsm gsm_ms/libgsm_ms adpcm_g722/g722 adpcm_g726/g726",
  "adpcm_ima_qt adpcm_ima_wav adpcm_ms adpcm_swf",
]
  .flatMap((line) => line.split(" "))
  .concat(listPcmCodecs())
  .map((names) => names.split("/"));
const SUPPORTED_CODECS = new Set(CODECS.map(([codec]) => codec!));

function listPcmCodecs(): string[] {
  const integers = ["s16", "s24", "s32", "s64", "u16", "u24", "u32", "f32", "f64"];
  const ordered = integers.flatMap((format) => [`pcm_${format}le`, `pcm_${format}be`]);
  const planar = ["pcm_s8_planar", "pcm_s16le_planar", "pcm_s16be_planar", "pcm_s24le_planar", "pcm_s32le_planar"];
  return [...ordered, ...planar, "pcm_s8", "pcm_u8", "pcm_alaw", "pcm_mulaw", "pcm_bluray", "pcm_dvd"];
}

/** Returns whether recordings with this codec are supported. `codec` is a name that ffmpeg's descriptions use. */
export const isSupportedCodec = (codec: string): boolean => SUPPORTED_CODECS.has(codec);

/** The decoders that ffmpeg may use on an input, as a value of `-codec_whitelist`. */
export const DECODER_WHITELIST: string = CODECS.flat().join(",");
