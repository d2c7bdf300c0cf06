/** Analyzes the speech of a recording that is prepared, and passes on its words as they are recognized. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { MediaFolder } from "../../blobs/folders";
import { JobYielded } from "../../domain/jobs";
import { MAX_PARTIAL_WORDS, type SpeechAnalysis, type SpeechEngine, type Word } from "../../domain/speech";
import { replaceWords } from "../../domain/vocabulary/apply";
import type { VocabularyEntry } from "../../domain/vocabulary/entries";
import { succeeds } from "../../lib/error-codes";
import { writeSpeechAnalysis } from "../assets/prepared-files";
import { findReplacements } from "../vocabulary/replace-words";
import type { JobOutput, RunContext } from "./definition";

/**
 * The next words that were recognized, from this index on. They will not change, unless the vocabulary corrects them.
 */
export type WordsCheckpoint = JobOutput & { kind: "words"; from: number; words: Word[] };

type SpeechContext = Pick<RunContext<WordsCheckpoint>, "checkpoint" | "owner" | "workDir">;

type SpeechWork = {
  engine: SpeechEngine;
  context: SpeechContext;
  files: MediaFolder;
  signal: AbortSignal;
  /** Null: detected. */
  language: string | null;
  vocabulary: readonly VocabularyEntry[];
  transcribes: boolean;
  /** Whether words are passed on before the transcript is complete. */
  reportsWords: boolean;
  canYield(): boolean;
  onProgress(share: number): void;
};

const YIELD_POLL_MS = 200;

/**
 * Analyzes speech. Yields when asked to and nothing else of the job is running, and resumes where an earlier attempt
 * stopped.
 */
export async function analyzeSpeech(work: SpeechWork): Promise<SpeechAnalysis> {
  const { engine, context, files, signal, language, transcribes, onProgress } = work;
  const { owner } = context;
  const audio = { path: files.analysisAudio };
  const progressPath = join(context.workDir, "speech.progress");
  const yielding = new AbortController();
  const reports = reportWords(context);
  let hasSaved = false;
  // An attempt that yields before it has saved anything would make no progress, however often it is repeated.
  const timer = setInterval(() => {
    if (hasSaved && work.canYield()) yielding.abort(new JobYielded());
  }, YIELD_POLL_MS);
  try {
    const analysis = await engine.analyze(audio, {
      owner,
      language,
      transcribes,
      signal: AbortSignal.any([signal, yielding.signal]),
      onProgress,
      progressPath,
      onSaved: () => {
        hasSaved = true;
      },
      ...(work.reportsWords && { onWords: reports.add }),
    });
    const replacements = await findReplacements(analysis.transcript, {
      entries: work.vocabulary,
      kept: new Set(),
      signal,
      speech: {
        forcedAlign: (requests) => engine.forcedAlign(audio, requests, { owner, signal }),
        recognize: (requests) => engine.recognize(audio, requests, { owner, signal }),
      },
    });
    await writeSpeechAnalysis(files, analysis, replaceWords(analysis.transcript?.words ?? [], replacements));
    await rm(progressPath, { force: true });
    return analysis;
  } finally {
    clearInterval(timer);
    await reports.stop();
  }
}

/**
 * Passes on words as checkpoints, one at a time. They are only for waiting users, so the preparation continues if that
 * fails; the next checkpoint repeats them.
 */
function reportWords({ checkpoint }: SpeechContext) {
  let waiting: Word[] = [];
  /** Index of the first waiting word. */
  let next = 0;
  let sending: Promise<void> | null = null;
  async function send(): Promise<void> {
    while (waiting.length > 0) {
      const run = waiting;
      const words = run.slice(0, MAX_PARTIAL_WORDS);
      const hasArrived = await succeeds(checkpoint({ kind: "words", blobs: [], from: next, words }));
      // Recognition has started again in the meantime.
      if (run !== waiting) continue;
      if (!hasArrived) break;
      run.splice(0, words.length);
      next += words.length;
    }
    sending = null;
  }
  return {
    add: (words: Word[], from: number): void => {
      if (from === 0) {
        waiting = [];
        next = 0;
      }
      waiting.push(...words);
      sending ??= send();
    },
    /** Drops words that have not been sent. */
    stop: async (): Promise<void> => {
      waiting = [];
      await sending;
    },
  };
}
