import { useRef } from "preact/hooks";
import { performAction } from "../../app/actions";
import { touch } from "../../app/narrow";
import { findLanguageName, listLanguages, nameLanguage } from "../../app/rare-formats";
import { canWrite } from "../../app/session";
import { useStatus } from "../../app/shared-reads";
import { showFailure } from "../../app/toasts";
import { Button } from "../../ui/button";
import { Menu } from "../../ui/menu";
import { Message } from "../../ui/states";
import { RECORDING_TYPES } from "../../upload/recording-types";
import type { FileCheck } from "../../upload/take-recordings";
import { fromSeconds } from "../model/plan";
import { useEditor } from "../state/context";
import { describeForeign, describeUntranscribed, findUntranscribed, isForeign } from "./foreign";

/** The mark of the server on kept speech that was not understood. */
const UNCLEAR = "unclear speech";

/** The note above the transcript of a recording in an unsupported language, with advice. */
export function LanguageNote() {
  const { asset, editor, playback } = useEditor();
  const untranscribed = findUntranscribed(asset);
  const detected = asset.language_detected;
  if (!asset.cuttable || !isForeign(asset)) return null;
  const places = (editor.cut?.plan?.segments ?? []).filter(({ review }) => review?.includes(UNCLEAR));
  const marked = places.reduce((sum, { start, end }) => sum + end - start, 0);
  const [first] = places;
  const seconds = marked > 0 ? marked : Number(asset.duration_seconds ?? 0);
  const code = untranscribed ?? detected!.code;
  const advice = (
    <span class="soft">
      Only pauses are cut{untranscribed === null && " there"}.
      {canWrite.value && (
        <>
          {" "}
          {editor.canEdit
            ? `Cut the rest by hand ${touch.matches ? "on the timeline" : "with I, O and Delete"}.`
            : "Choose “Cut by hand” for the rest."}{" "}
          <Advice code={code} />
        </>
      )}
    </span>
  );
  return (
    <Message look="warning" class="language-note" role="note">
      {untranscribed === null ? (
        <div class="language-text">
          <p>{describeForeign(seconds, code)}</p>
          <details>
            <summary>More</summary>
            {advice}
          </details>
        </div>
      ) : (
        <p>
          {describeUntranscribed(asset, code)} {advice}
        </p>
      )}
      {canWrite.value && <UploadAgain code={code} />}
      {first !== undefined && (
        <Button
          onClick={() => {
            playback.seek(fromSeconds(first.start));
            performAction("review.next");
          }}
        >
          Listen
        </Button>
      )}
    </Message>
  );
}

/** Returns the language of the transcript; null if unknown. */
export const findLanguage = ({
  asset,
  editor,
}: Pick<ReturnType<typeof useEditor>, "asset" | "editor">): string | null =>
  asset.language ?? asset.language_detected?.code ?? editor.cut?.plan?.language ?? null;

/** The language in which the recording was transcribed, and how to change it. */
export function TranscribedLanguage() {
  const { asset, editor } = useEditor();
  const code = findLanguage({ asset, editor });
  // `LanguageNote` already shows it.
  if (code === null || isForeign(asset)) return null;
  return (
    <div class="transcribed-language soft">
      <p>
        Transcribed in {nameLanguage(code)}. <Advice code={code} />
      </p>
      <UploadAgain code={code} />
    </div>
  );
}

/** The language of a recording is fixed with its upload, so it is uploaded again. */
function Advice({ code }: { code: string }) {
  const { asset } = useEditor();
  const languages = useLanguages();
  if (languages === null) return null;
  const name = findLanguageName(code) ?? "this language";
  if (asset.has_transcript)
    return languages.some((one) => one !== code) ? (
      <>To transcribe it in another language, upload it again.</>
    ) : (
      <>This server recognizes only {name}. An administrator can add other languages.</>
    );
  return languages.includes(code) ? (
    <>This server now recognizes {name}. Upload the recording again.</>
  ) : (
    <>This server does not recognize {name} yet. Ask an administrator to add it, then upload the recording again.</>
  );
}

/** The codes of the languages that the server recognizes; null before they are known. */
export function useLanguages(): readonly string[] | null {
  const status = useStatus().state.value;
  return status.kind === "ready" ? status.value.languages : null;
}

/** Chooses the file of the recording once more, and uploads it to the same project in a language. */
function UploadAgain({ code }: { code: string }) {
  const { asset } = useEditor();
  const input = useRef<HTMLInputElement>(null);
  const language = useRef(code);
  const known = useLanguages() ?? [];
  const languages = asset.has_transcript ? known.filter((one) => one !== code) : known.filter((one) => one === code);
  if (languages.length === 0) return null;
  const take = async (files: File[]) => {
    let check: FileCheck | undefined;
    try {
      const [{ startCheck, takeRecordings }, { addUploads }] = await Promise.all([
        import("../../upload/take-recordings"),
        import("../../upload/queue"),
      ]);
      check = startCheck(files.length);
      const recordings = await takeRecordings(files, check);
      const { workspaceId } = check;
      addUploads(asset.project_id, recordings, { workspaceId, language: language.current });
    } catch (error) {
      if (!check?.signal.aborted) showFailure(error);
    } finally {
      check?.end();
    }
  };
  return (
    <span class="upload-again">
      <Menu
        label={asset.has_transcript ? "Upload again in another language" : "Upload again"}
        look="filled"
        side="left"
        items={listLanguages(languages).map(({ value, label }) => ({
          label,
          run: () => {
            language.current = value;
            input.current?.click();
          },
        }))}
      >
        Upload again in…
      </Menu>
      <input
        ref={input}
        class="visually-hidden"
        type="file"
        tabIndex={-1}
        aria-label="Recording to upload again"
        accept={RECORDING_TYPES}
        onChange={(event) => {
          void take([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = "";
        }}
      />
    </span>
  );
}
