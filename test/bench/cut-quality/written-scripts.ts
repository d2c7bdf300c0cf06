/** Writes a script in the forms in which people write scripts, and changes its words. */
import { createRandom } from "./talk";

type ScriptWriter = (sentences: readonly string[]) => string;

const SHOTS = ["Wide shot", "Hands, close", "Logo", "Screen capture", "Anna at the desk", "Slow pan, left to right"];
const NAMES = ["Anna", "Ben"];
const pick = <Item>(items: readonly Item[], i: number) => items[i % items.length]!;
const two = (n: number) => String(n).padStart(2, "0");
const toClock = (seconds: number) => `${two(Math.floor(seconds / 60))}:${two(seconds % 60)}`;
const numberOf = (i: number) => String(i + 1).padStart(3, "0");
const each =
  (write: (text: string, i: number) => string, separator = "\n"): ScriptWriter =>
  (sentences) =>
    sentences.map(write).join(separator);

/** Breaks a text at a column. */
function wrap(text: string, column: number): string[] {
  const rows: string[] = [];
  for (const word of text.split(" ")) {
    const last = rows.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= column) rows[rows.length - 1] = `${last} ${word}`;
    else rows.push(word);
  }
  return rows;
}

/** Cues of at most 40 characters, over which sentences continue. */
const toCues: ScriptWriter = (sentences) =>
  wrap(sentences.join(" "), 40)
    .map((row, i) => `${i + 1}\n00:${toClock(2 * i)},000 --> 00:${toClock(2 * i + 1)},900\n${row}\n`)
    .join("\n");

export const SCRIPT_FORMS: Record<string, ScriptWriter> = {
  sentences: each((text) => text),
  "paragraphs, wrapped": (sentences) =>
    Array.from({ length: Math.ceil(sentences.length / 3) }, (_, p) =>
      wrap(sentences.slice(3 * p, 3 * p + 3).join(" "), 72).join("\n"),
    ).join("\n\n"),
  "two columns, |": each((text, i) => `${pick(SHOTS, i)} | ${text}`),
  "two columns, tab": (sentences) =>
    ["Video\tAudio", ...sentences.map((text, i) => `${pick(SHOTS, i)}\t${text}`)].join("\n"),
  "two columns, spaces": (sentences) =>
    [
      `${"VIDEO".padEnd(28)}AUDIO`,
      ...sentences.flatMap((text, i) =>
        wrap(text, 44).map((row, k) => (k === 0 ? pick(SHOTS, i) : "").padEnd(28) + row),
      ),
    ].join("\n"),
  "Markdown table": (sentences) =>
    [
      "| # | Picture | Voice-over |",
      "|---|:--|---|",
      ...sentences.map((text, i) => `| ${i + 1} | ${pick(SHOTS, i)} | ${text} |`),
    ].join("\n"),
  "word processor table": (sentences) =>
    [
      "Time\tShot\tSpeaker\tText",
      ...sentences.map(
        (text, i) => `${toClock(4 * i)}\t${pick(SHOTS, i)}\t${pick(NAMES, i)}\t${wrap(text, 30).join("\n")}`,
      ),
    ].join("\r\n"),
  screenplay: (sentences) =>
    `FADE IN:\n\nINT. OFFICE - DAY\n\nAnna sits at a desk. Ben stands at the window.\n\n${sentences
      .map(
        (text, i) =>
          `${" ".repeat(20)}${pick(NAMES, i).toUpperCase()}\n${i % 3 === 1 ? `${" ".repeat(15)}(quietly)\n` : ""}${wrap(
            text,
            35,
          )
            .map((row) => " ".repeat(10) + row)
            .join("\n")}\n`,
      )
      .join("\n")}\nCUT TO:`,
  SRT: toCues,
  WebVTT: (sentences) =>
    `WEBVTT\n\nNOTE Draft\n\n${toCues(sentences).replaceAll(",000", ".000").replaceAll(",900", ".900")}`,
  timecodes: each((text, i) => `${i % 2 ? "" : "\n"}[${toClock(4 * i)} - ${toClock(4 * i + 3)}]\n${text}`),
  "cue numbers": each((text, i) => `${numberOf(i)}: ${text}`),
  "stage directions": each(
    (text, i) =>
      `${i % 2 ? "[Music fades.] " : ""}${text}${i % 3 ? "" : " (beat)"}${i % 4 ? "" : "\n[SHE TURNS TO THE CAMERA]"}`,
  ),
  speakers: each((text, i) => `${pick(NAMES, i)}: ${text}`),
  headings: (sentences) =>
    `How it is done\n\n${sentences.map((text, i) => `${i % 4 === 0 && i > 0 ? `\nPart ${1 + i / 4}\n\n` : ""}${text}`).join("\n")}`,
};

/** Words that replace others: about as frequent, about something else. */
const OTHER_WORDS =
  "river window green seven walk carefully market under paper bring another silver people during winter always letter garden table never small about yellow kitchen quickly between mountain simple under morning".split(
    " ",
  );

export type ScriptChange = "exact" | "12% wrong" | "12% mixed" | "25% mixed";
export const SCRIPT_CHANGES: readonly ScriptChange[] = ["exact", "12% wrong", "12% mixed", "25% mixed"];

/**
 * Returns sentences with a share of their words replaced, and with `mixed` swapped with the next or left out as well.
 */
export function changeWords(sentences: readonly string[], change: ScriptChange, seed: number): string[] {
  if (change === "exact") return [...sentences];
  const random = createRandom(seed);
  const share = change.startsWith("25%") ? 0.25 : 0.12;
  const kinds = change.endsWith("mixed") ? 3 : 1;
  return sentences.map((sentence) => {
    const words = sentence.split(" ");
    for (let i = 0; i < words.length; i++) {
      if (random() >= share) continue;
      const kind = Math.floor(random() * kinds);
      const mark = /[.,!?;:]*$/.exec(words[i]!)![0];
      if (kind === 0) words[i] = OTHER_WORDS[Math.floor(random() * OTHER_WORDS.length)]! + mark;
      else if (kind === 1 && i + 1 < words.length) {
        const next = words[i + 1]!;
        const nextMark = /[.,!?;:]*$/.exec(next)![0];
        words[i + 1] = words[i]!.slice(0, words[i]!.length - mark.length) + nextMark;
        words[i] = next.slice(0, next.length - nextMark.length) + mark;
        i++;
      } else words[i] = mark;
    }
    const text = words.filter((word) => word !== "").join(" ");
    return text.replace(/\s+([.,!?;:])/g, "$1");
  });
}

/** Where a script has lines that are not recorded: "amid" is in one place, "between" after each recorded line. */
export type UnrecordedPlace = "after" | "before" | "amid" | "between";
export const UNRECORDED_PLACES: readonly UnrecordedPlace[] = ["after", "before", "amid", "between"];

/** Returns sentences with as many others, which are not recorded. */
export function addUnrecorded(
  sentences: readonly string[],
  others: readonly string[],
  place: UnrecordedPlace,
): string[] {
  const added = sentences.map((_, i) => pick(others, i));
  if (place === "between") return sentences.flatMap((sentence, i) => [sentence, added[i]!]);
  const at = { before: 0, amid: sentences.length >> 1, after: sentences.length }[place];
  return [...sentences.slice(0, at), ...added, ...sentences.slice(at)];
}

/** Scripts of other recordings, and in other languages. */
export const OTHER_SCRIPTS: readonly string[] = [
  "The river was high after a week of rain. The old bridge was closed to traffic. She packed a small bag and left a note on the table. Nobody saw her walk to the station.",
  "Fold the egg whites into the batter. Butter the tin and dust it with flour. Bake the cake for forty minutes. Let it cool before you slice it.",
  "The committee approved the minutes of the last meeting. The treasurer presented the accounts. Membership fees will rise in April. The chair thanked all volunteers.",
  "Bees find their way by the sun. They dance to tell others where nectar is. A hive has one queen. In winter the colony keeps her warm.",
  "Your flight boards at gate twelve. Have your passport ready. Large bags must be checked. Smoking is forbidden everywhere in the terminal.",
  "The goalkeeper dived to the left. The stadium went silent. Two minutes later they scored again. It was the biggest upset of the season.",
  "Photosynthesis turns light into sugar. Leaves are green because of chlorophyll. Roots draw water out of the soil. Oxygen is released at night as well as by day.",
  "The castle was built in the twelfth century. Its walls are four meters thick. Soldiers slept in the northern tower. Today it is a museum with a small café.",
  "Heute zeige ich euch, wie man ein Regal aufhängt. Zuerst messen wir die Wand. Dann bohren wir zwei Löcher. Zum Schluss schrauben wir alles fest.",
  "Bonjour et bienvenue dans cette nouvelle vidéo. Nous allons mesurer le mur. Ensuite, il faut percer deux trous. N'oubliez pas de nettoyer la table.",
  "Hola a todos y bienvenidos a este taller. Primero medimos la pared con cuidado. Después hacemos dos agujeros. Al final limpiamos la mesa.",
  "Ciao a tutti e benvenuti in questo video. Prima misuriamo bene il muro. Poi facciamo due fori. Alla fine puliamo il tavolo.",
  "Welkom bij deze korte uitleg. Eerst meten we de muur op. Daarna boren we twee gaten. Vergeet niet om de tafel schoon te maken.",
  "Olá e bem-vindos a este pequeno vídeo. Primeiro medimos a parede. Depois fazemos dois furos. No fim limpamos a mesa.",
  "Dzień dobry i witamy w naszym filmie. Najpierw mierzymy ścianę. Potem wiercimy dwa otwory. Na końcu sprzątamy stół.",
  "今日は棚の取り付け方を説明します。まず壁の長さを測ります。次に穴を二つ開けます。最後に机を片付けます。",
];
