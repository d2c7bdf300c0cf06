/**
 * The models that `offcut models add NAME` can install. Sizes and checksums are those that the publishers state; each
 * URL names a fixed revision, so that its content cannot change.
 */
import type { FileRole, ModelFile, ModelKind, ModelManifest } from "./manifest";

/** A model with the URLs of its files. */
export type CatalogModel = ModelManifest & { urls: Record<string, string> };

/** The built-in model, the only one that supports forced alignment. */
export const BUILT_IN: ModelManifest = {
  name: "moonshine-tiny-en",
  title: "Moonshine tiny",
  kind: "moonshine",
  languages: ["en"],
  licence: "MIT",
  source: "https://github.com/moonshine-ai/moonshine",
  preference: 0,
  files: [],
};

const HUB = "https://huggingface.co/csukuangfj";

type CatalogFacts = Omit<ModelManifest, "files" | "kind"> & { kind: ModelKind; repository: string; revision: string };

function createCatalogModel(facts: CatalogFacts, files: [FileRole, string, number, string][]): CatalogModel {
  const { repository, revision, ...manifest } = facts;
  const described: ModelFile[] = files.map(([role, name, sizeBytes, sha256]) => ({ role, name, sizeBytes, sha256 }));
  const urls = described.map(({ name }) => [name, `${HUB}/${repository}/resolve/${revision}/${name}`]);
  return { ...manifest, files: described, urls: Object.fromEntries(urls) };
}

const PARAKEET_LANGUAGES = "bg cs da de el en es et fi fr hr hu it lt lv mt nl pl pt ro ru sk sl sv uk".split(" ");

/** ISO 639 codes. Whisper itself uses `jw` for `jv`. */
const WHISPER_LANGUAGES = (
  "en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml cy sk te fa " +
  "lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am yi lo uz fo ht ps tk nn mt " +
  "sa lb my bo tl mg as tt haw ln ha ba jv su"
).split(" ");

const WHISPER_TOKENS_SHA256 = "b34b360dbb493e781e479794586d661700670d65564001f23024971d1f2fa126";

function createWhisperModel(
  size: "tiny" | "base" | "small",
  preference: number,
  revision: string,
  sums: [number, string, number, string],
) {
  const [encoderBytes, encoder, decoderBytes, decoder] = sums;
  return createCatalogModel(
    {
      name: `whisper-${size}`,
      title: `Whisper ${size} (int8)`,
      kind: "whisper",
      languages: WHISPER_LANGUAGES,
      licence: "MIT",
      source: "https://github.com/openai/whisper",
      preference,
      repository: `sherpa-onnx-whisper-${size}`,
      revision,
    },
    [
      ["encoder", `${size}-encoder.int8.onnx`, encoderBytes, encoder],
      ["decoder", `${size}-decoder.int8.onnx`, decoderBytes, decoder],
      ["tokens", `${size}-tokens.txt`, 816_730, WHISPER_TOKENS_SHA256],
    ],
  );
}

/** Sorted by preference. */
export const CATALOG: readonly CatalogModel[] = [
  createCatalogModel(
    {
      name: "parakeet-tdt-v3",
      title: "Parakeet TDT 0.6B v3 (int8)",
      kind: "transducer",
      languages: PARAKEET_LANGUAGES,
      licence: "CC-BY-4.0",
      source: "https://huggingface.co/nvidia/parakeet-tdt-0.6b-v3",
      preference: 90,
      repository: "sherpa-onnx-nemo-parakeet-tdt-0.6b-v3-int8",
      revision: "2bda32ec70b097a55adaa07d9a7173915b43cc78",
    },
    [
      ["encoder", "encoder.int8.onnx", 652_184_281, "acfc2b4456377e15d04f0243af540b7fe7c992f8d898d751cf134c3a55fd2247"],
      ["decoder", "decoder.int8.onnx", 11_845_275, "179e50c43d1a9de79c8a24149a2f9bac6eb5981823f2a2ed88d655b24248db4e"],
      ["joiner", "joiner.int8.onnx", 6_355_277, "3164c13fc2821009440d20fcb5fdc78bff28b4db2f8d0f0b329101719c0948b3"],
      ["tokens", "tokens.txt", 93_939, "d58544679ea4bc6ac563d1f545eb7d474bd6cfa467f0a6e2c1dc1c7d37e3c35d"],
    ],
  ),
  createCatalogModel(
    {
      name: "sense-voice",
      title: "SenseVoice small (int8)",
      kind: "sense-voice",
      languages: ["zh", "yue", "en", "ja", "ko"],
      licence: "FunASR Model Open Source License Agreement 1.1",
      source: "https://github.com/FunAudioLLM/SenseVoice",
      preference: 80,
      repository: "sherpa-onnx-sense-voice-zh-en-ja-ko-yue-2024-07-17",
      revision: "2365baeacb507f821a0c8120fcee3d484dba7a07",
    },
    [
      ["model", "model.int8.onnx", 239_233_841, "c71f0ce00bec95b07744e116345e33d8cbbe08cef896382cf907bf4b51a2cd51"],
      ["tokens", "tokens.txt", 315_894, "f449eb28dc567533d7fa59be34e2abca8784f771850c78a47fb731a31429a1dc"],
    ],
  ),
  createWhisperModel("small", 60, "8f3c18b358db4d1f2fc1eae49d75cd20989e4309", [
    112_442_483,
    "4cbe7b22fa9026b843b60a68640c747de05bafb1a11b57edc0e66c232d9f33a9",
    262_226_114,
    "acad50b5c782696e91b55914cc5ab4f756f1532f76e22aa6fc615f39fb69a8ee",
  ]),
  createWhisperModel("base", 50, "bb53ee204431c90d314c1cc08d28d23e5b7927cc", [
    29_120_534,
    "0b8fb1304b6109976038efff5ace81720e00386f3ff6b54ee8c75291ca0a1e11",
    130_672_026,
    "9759d217388a01b3a4c7c15533201067b48ae819c4daafc8624e64b9409dc02d",
  ]),
  createWhisperModel("tiny", 40, "65176e2deb88badc814a94058666cadccc29b61c", [
    12_937_772,
    "d24fb083ae3b1041fc24e97971d60e280c9342201fbb67b0ab428a8b4a51a434",
    89_855_401,
    "d2fece8dd42771f1df975c6c0445770d0c292bf7547c2cae04a6c0cc57540925",
  ]),
];

export const findCatalogModel = (name: string, catalog = CATALOG): CatalogModel | null =>
  catalog.find((entry) => entry.name === name) ?? null;

/** Returns the total size of a model's files in bytes. */
export const sumFileBytes = (files: readonly { sizeBytes: number }[]): number =>
  files.reduce((sum, f) => sum + f.sizeBytes, 0);
