import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseScript, readScriptRows } from "../../../../../src/domain/planning/scripted/script-lines";

const required = (script: string) => parseScript(script, "en").flatMap((line) => (line.optional ? [] : [line.text]));
const optional = (script: string) => parseScript(script, "en").flatMap((line) => (line.optional ? [line.text] : []));

const SPOKEN = [
  "Welcome to the workshop.",
  "Today we hang a shelf, and we measure the wall twice.",
  "Is the drill charged?",
  "Then we can begin.",
];
const [welcome, today, drill, begin] = SPOKEN as [string, string, string, string];

describe("the spoken part is found in", () => {
  test.each<[string, string]>([
    [
      "SRT",
      `1\n00:00:01,000 --> 00:00:02,500\n${welcome}\n\n2\n00:00:03,000 --> 00:00:05,000\nToday we hang a shelf,\nand we measure\n\n3\n00:00:05,000 --> 00:00:07,000\nthe wall twice. Is the drill charged?\n\n4\n00:00:08,000 --> 00:00:09,000\n<i>${begin}</i>\n`,
    ],
    [
      "SRT without empty rows",
      SPOKEN.map((text, i) => `${i + 1}\n00:00:0${i},000 --> 00:00:0${i + 1},000\n${text}`).join("\n"),
    ],
    [
      "WebVTT",
      `WEBVTT - Workshop\nKind: captions\n\nNOTE\nThis is a draft.\n\nSTYLE\n::cue { color: red }\n\nintro\n00:01.000 --> 00:02.500 align:start\n<v Anna>${welcome}\n\n00:03.000 --> 00:07.000\n${today}\n\n00:07.000 --> 00:09.000\n${drill} ${begin}`,
    ],
    [
      "rolling captions",
      `WEBVTT\n\n00:01.000 --> 00:02.000\n${welcome}\n\n00:02.000 --> 00:04.000\n${welcome}\n${today}\n\n00:04.000 --> 00:05.000\n${today}\n${drill}\n\n00:05.000 --> 00:06.000\n${drill}\n${begin}`,
    ],
    [
      "a Markdown table",
      `# How to hang a shelf\n\n| Visual | Audio |\n|--------|:-----:|\n| Wide shot of the bench | ${welcome} |\n| Anna holds a shelf | ${today} |\n| Close-up, drill | ${drill} |\n| | ${begin} |`,
    ],
    [
      "a Markdown table with unknown headers",
      `| A | B | C |\n|---|---|---|\n${SPOKEN.map((text, i) => `| ${i + 1} | ${text} | tools on the bench |`).join("\n")}`,
    ],
    [
      "two columns with a bar",
      `Wide shot | ${welcome}\nHands, tape measure | ${today}\nDrill | ${drill}\nAnna nods | ${begin}`,
    ],
    ["two columns with the speech first", SPOKEN.map((text) => `${text} | bench and tools`).join("\n")],
    [
      "a grid",
      `+-------+----------+\n| VIDEO | AUDIO    |\n+=======+==========+\n| Bench | ${welcome} |\n+-------+----------+\n| Hands | Today we hang a shelf, |\n|       | and we measure the wall twice. |\n+-------+----------+\n| Drill | ${drill} |\n+-------+----------+\n| Drill | ${begin} |\n+-------+----------+`,
    ],
    [
      "a table with tabs",
      `Time\tPicture\tVoice over\n0:00\tBench\t${welcome}\n0:04\tHands\t${today}\n0:09\tDrill\t${drill}\n0:12\t\t${begin}`,
    ],
    [
      "a table with tabs and cells of several paragraphs",
      `Shot\tNarration\n1\t${welcome}\nToday we hang a shelf,\nand we measure the wall twice.\n2\t${drill}\n3\t${begin}`,
    ],
    [
      "a table with quoted cells",
      `Shot\tNarration\n1\t"${welcome}\nToday we hang a shelf, and we measure the wall twice."\n2\t${drill}\n3\t${begin}`,
    ],
    [
      "numbers and names with tabs",
      SPOKEN.map((text, i) => `${i + 1}.\t${i % 2 ? "Ben" : "Anna"}\t${text}`).join("\n"),
    ],
    [
      "a table as a list of its cells",
      `Time\nVisual\nAudio\n0:00\nBench\n${welcome}\n0:04\nHands\n${today}\n0:09\nDrill\n${drill}\n0:12\nAnna\n${begin}`,
    ],
    [
      "columns aligned by spaces",
      `VIDEO               AUDIO\nWide shot: bench    ${welcome}\nHands               Today we hang a shelf,\n                    and we measure the wall\n                    twice.\n\nDrill               ${drill}\nAnna nods           ${begin}`,
    ],
    ["columns divided by spaces", SPOKEN.map((text, i) => `0:0${i}${" ".repeat(3 + i)}${text}`).join("\n")],
    [
      "a screenplay",
      `INT. WORKSHOP - DAY\n\nAnna stands at the bench. She holds a shelf.\n\n                    ANNA\n          ${welcome} Today we hang a\n          shelf, and we measure the wall\n          twice.\n\nBen comes in.\n\n                    ANNA (CONT'D)\n               (to Ben)\n          ${drill}\n\n                    BEN (O.S.)\n          ${begin}\n\nCUT TO:`,
    ],
    [
      "a screenplay with empty rows everywhere",
      `INT. WORKSHOP - DAY\n\nANNA\n\n${welcome}\n\nBEN\n\n(smiling)\n\n${today}\n\nANNA\n\n${drill}\n\nBEN\n\n${begin}`,
    ],
    ["timecodes in front", SPOKEN.map((text, i) => `00:0${i} ${text}`).join("\n")],
    [
      "timecodes in brackets and ranges",
      SPOKEN.map((text, i) => `[00:00:0${i} - 00:00:0${i + 1}]\n${text}`).join("\n\n"),
    ],
    ["timecodes in parentheses", SPOKEN.map((text, i) => `(0:0${i}) ${text}`).join("\n")],
    ["timecodes behind", SPOKEN.map((text, i) => `${text} (00:00:0${i})`).join("\n")],
    ["timecodes of frames", SPOKEN.map((text, i) => `01:00:0${i}:12 - ${text}`).join("\n")],
    [
      "a transcript of a meeting",
      SPOKEN.map((text, i) => `${i % 2 ? "Ben Fox" : "Anna Lee"}  0:0${i}\n${text}`).join("\n\n"),
    ],
    ["numbered lines", SPOKEN.map((text, i) => `00${i + 1}: ${text}`).join("\n")],
    ["numbers in parentheses", SPOKEN.map((text, i) => `(${i + 1}) ${text}`).join("\n")],
    ["bare numbers", SPOKEN.map((text, i) => `${i + 1} ${text}`).join("\n")],
    ["numbered shots", SPOKEN.map((text, i) => `Shot ${i + 1}: ${text}`).join("\n")],
    ["slides", SPOKEN.map((text, i) => `SLIDE ${i + 1}\n${text}`).join("\n\n")],
    ["speakers in capitals", SPOKEN.map((text, i) => `${i % 2 ? "BEN" : "ANNA"}: ${text}`).join("\n")],
    ["speakers", SPOKEN.map((text, i) => `${i % 2 ? "Ben" : "Anna"}: ${text}`).join("\n")],
    ["speakers in bold", SPOKEN.map((text, i) => `**${i % 2 ? "Ben" : "Anna"}:** ${text}`).join("\n\n")],
    [
      "speakers with directions",
      SPOKEN.map((text, i) => `${i % 2 ? "Ben" : "Anna"} (softly): (to the camera) ${text}`).join("\n"),
    ],
    ["speakers on rows of their own", SPOKEN.map((text, i) => `${i % 2 ? "BEN" : "ANNA"}:\n${text}`).join("\n\n")],
    ["visuals and voice", SPOKEN.map((text) => `Visual: the bench\nVoiceover: ${text}`).join("\n\n")],
    [
      "sound effects",
      `SFX: A door slams.\nANNA: ${welcome}\nANNA: ${today}\nMUSIC: Upbeat.\nANNA: ${drill}\nON SCREEN: www.example.com\nANNA: ${begin}`,
    ],
    [
      "facts about the script",
      `Title: How to hang a shelf\nAuthor: Anna Lee\nDuration: 2 minutes\n\n${SPOKEN.join("\n\n")}`,
    ],
    ["front matter", `---\ntitle: Shelf\ntags:\n  - tools\n---\n${SPOKEN.join("\n")}`],
    ["headings", `How to hang a shelf\n\n${welcome} ${today}\n\nThe drill\n\n${drill} ${begin}`],
    ["headings in capitals", `INTRODUCTION\n${welcome} ${today}\n\nTHE DRILL\n${drill} ${begin}`],
    ["underlined headings", `How to hang a shelf\n===\n\n${SPOKEN.join("\n")}`],
  ])("%s", (_, script) => {
    expect(required(script)).toEqual(SPOKEN);
  });
});

describe("prose stays as it is:", () => {
  test.each<[string, string[]]>([
    ["a bar", ["Press the | key.", "Then wait."]],
    ["bars in two rows", ["Type a | b.", "Type c | d.", "Now press the key.", "And wait."]],
    ["a time", ["10:30 is when we meet.", "We leave at 12:15."]],
    ["a schedule", ["9:00 We meet.", "10:30 We drink coffee.", "12:00 We leave."]],
    ["a colon", ["Remember: never stop.", "Then: go on."]],
    ["the same word with a colon", ["Tip: measure twice.", "Tip: cut once.", "Tip: sand it."]],
    ["steps", ["Step 1: open the box.", "Step 2: take it out."]],
    ["music", ["Music: it is the food of love.", "We play on."]],
    ["numbers", ["3 men went to mow.", "2 men went to mow.", "1 man went to mow."]],
    ["years", ["1990: we started.", "1991: we grew.", "1992: we sold."]],
    [
      "two spaces after a sentence",
      ["We came.  We saw it.", "They left.  It rained all day.", "So what?  We stayed at home."],
    ],
    ["capitals", ["STOP!", "NEVER DO THAT.", "Is that clear?"]],
    ["lines without punctuation", ["First we wash", "then we cut", "and then we eat"]],
    ["an arrow", ["Click File --> Save.", "Then close it."]],
    ["a tab at the start", ["\tWe came.", "\tWe saw.", "We left."]],
  ])("%s", (_, rows) => {
    expect(readScriptRows(rows.join("\n")).map((row) => row.text)).toEqual(rows);
  });

  const word = fc.stringMatching(/^[a-z]{1,9}$/);
  const odd = fc.constantFrom("|", "a:", "12:30", "7", "(so)", "-", "Anna:", "TIP", "2.5", "#", "[x]", "-->", "a|b");
  const sentence = fc
    .tuple(fc.array(word, { minLength: 3, maxLength: 12 }), fc.option(odd, { freq: 6 }), fc.nat(12))
    .map(([words, stray, at]) => {
      const all =
        stray === null ? words : [...words.slice(0, at % words.length), stray, ...words.slice(at % words.length)];
      const text = all.join(" ");
      return `${text[0]!.toUpperCase()}${text.slice(1)}.`;
    });

  test("random prose with a stray sign", () => {
    fc.assert(
      fc.property(fc.array(sentence, { minLength: 4, maxLength: 12 }), fc.nat(11), (sentences, k) => {
        // A sign in one row only: evidence is never a single row.
        const rows = sentences.map((text, i) => (i === k % sentences.length ? text : text.replace(/[^\p{L} .]/gu, "")));
        expect(readScriptRows(rows.join("\n")).map((row) => row.text)).toEqual(rows);
      }),
    );
  });

  // Shorter words can be abbreviations, after which a sentence continues.
  const longWord = fc.stringMatching(/^[a-z]{5,9}$/);
  const plain = fc
    .array(longWord, { minLength: 4, maxLength: 14 })
    .map((words) => `${words[0]![0]!.toUpperCase()}${words.join(" ").slice(1)}.`);
  const two = (n: number) => String(n).padStart(2, "0");
  const time = (i: number) => `00:${two(Math.floor(i / 30))}:${two((2 * i) % 60)}`;
  const forms: Record<string, (text: string, i: number) => string> = {
    srt: (text, i) => `${i + 1}\n${time(i)},000 --> ${time(i)},900\n${text}\n`,
    vtt: (text, i) => `${i === 0 ? "WEBVTT\n\n" : ""}${time(i)}.000 --> ${time(i)}.900\n${text}\n`,
    markdown: (text, i) => `${i === 0 ? "| Video | Audio |\n|---|---|\n" : ""}| shot of it | ${text} |`,
    bars: (text) => `close-up | ${text}`,
    tabs: (text, i) => `${i + 1}\t${time(i)}\tclose-up\t${text}`,
    spaces: (text, i) => `${(i % 2 ? "bench" : "hands, tools").padEnd(20)}${text}`,
    timecodes: (text, i) => `[${time(i)}] ${text}`,
    numbers: (text, i) => `${String(i + 1).padStart(3, "0")}: ${text}`,
    speakers: (text, i) => `${i % 2 ? "Ben" : "Anna"}: ${text}`,
    capitals: (text, i) => `${i % 2 ? "BEN" : "ANNA"}: ${text}`,
    screenplay: (text, i) => `${i === 0 ? "INT. SHED - DAY\n\n" : ""}${i % 2 ? "BEN" : "ANNA"}\n${text}\n`,
    visuals: (text) => `Visual: a shot of it\nVoiceover: ${text}\n`,
  };
  test.each(Object.keys(forms))("the same lines are found in the form %s", (form) => {
    fc.assert(
      fc.property(fc.array(plain, { minLength: 4, maxLength: 20 }), (lines) => {
        expect(required(lines.map(forms[form]!).join("\n"))).toEqual(lines);
      }),
    );
  });
});

test("a cue that ends in a title and a cell without an end", () => {
  const time = (n: number) => `00:00:0${n},000 --> 00:00:0${n + 1},000`;
  expect(required(`1\n${time(1)}\nThen we met Dr.\n\n2\n${time(2)}\nLee. It was late.`)).toEqual([
    "Then we met Dr. Lee.",
    "It was late.",
  ]);
  const lines = parseScript(`Bench | Results\nDrill | ${welcome}\nHands | ${today}`, "en");
  expect(lines.map((line) => line.text)).toEqual(["Results", welcome, today]);
});

test("headings and action are optional", () => {
  expect(optional(`INT. SHED - DAY\n\nAnna waits.\n\nANNA\nHello.\n\nANNA\nAnybody here?`)).toEqual(["Anna waits."]);
  expect(optional(`The wall\n\n${welcome} ${today}\n\nThe drill\n\n${drill} ${begin}`)).toEqual([
    "The wall",
    "The drill",
  ]);
});

test("headings are optional without punctuation too", () => {
  const lines = ["we hang a shelf today", "and we measure the wall twice", "is the drill charged", "then we can begin"];
  const script = `How to hang a shelf\n\n${lines[0]}\n${lines[1]}\n\nThe drill\n\n${lines[2]}\n${lines[3]}`;
  expect(optional(script)).toEqual(["How to hang a shelf", "The drill"]);
  expect(required(script)).toEqual(lines);
  const parts = `Part 1\n${lines[0]}\n${lines[1]}\nPart 2\n${lines[2]}\n${lines[3]}\nConclusion\nthat is all`;
  expect(optional(parts)).toEqual(["Part 1", "Part 2", "Conclusion"]);
  expect(required(parts)).toEqual([...lines, "that is all"]);
});

test("a form with exceptions: a row with another number of cells, a title, a deleted cue, a paragraph that ends in a colon", () => {
  const table = `| Visual | Audio |\n|---|---|\n| Bench | ${welcome} |\n| Close-up |\n| Drill | ${drill} |\n| Anna | ${begin} |`;
  expect(required(table)).toEqual([welcome, drill, begin]);
  const bare = SPOKEN.map((text, i) => `${i + 1} ${text}`).join("\n");
  expect([required(`The first shelf\n${bare}`), optional(`The first shelf\n${bare}`)]).toEqual([
    SPOKEN,
    ["The first shelf"],
  ]);
  const tens = [10, 20, 40, 50].map((number, i) => `${number} ${SPOKEN[i]}`).join("\n");
  expect(required(tens)).toEqual(SPOKEN);
  const long = `${welcome} ${today}`;
  expect(
    optional(
      `The wall\n\n${[long, long, long, long].join("\n\n")}\n\n${welcome} Here is the long list of all the tools:`,
    ),
  ).toEqual(["The wall"]);
});
