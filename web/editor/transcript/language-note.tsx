import { performAction } from "../../app/actions";
import { api, must } from "../../app/api";
import { useRead } from "../../app/cache";
import { toList } from "../../app/english";
import { nameLanguage } from "../../app/rare-formats";
import { canWrite } from "../../app/session";
import { Button } from "../../ui/button";
import { Icon } from "../../ui/icon";
import { fromSeconds } from "../model/plan";
import { useEditor } from "../state/context";
import { describeForeign, describeUntranscribed, findUntranscribed, isForeign } from "./foreign";

/** The mark of the server on kept speech that was not understood. */
const UNCLEAR = "unclear speech";

/** Says above the transcript that the recording was not understood, and what can be done. */
export function LanguageNote() {
  const { asset, editor, playback } = useEditor();
  const untranscribed = findUntranscribed(asset);
  const detected = asset.language_detected;
  if (!isForeign(asset)) return null;
  const places = (editor.cut?.plan?.segments ?? []).filter(({ review }) => review?.includes(UNCLEAR));
  const marked = places.reduce((sum, { start, end }) => sum + end - start, 0);
  const [first] = places;
  const seconds = marked > 0 ? marked : Number(asset.duration_seconds ?? 0);
  return (
    <div class="message warning language-note" role="note">
      <Icon name="warning" />
      <p>
        {untranscribed === null
          ? describeForeign(seconds, detected!.code)
          : describeUntranscribed(asset, untranscribed)}{" "}
        <span class="soft">
          Only pauses are cut{untranscribed === null && " there"}.
          {canWrite.value && (
            <>
              {" "}
              {editor.canEdit ? "Cut the rest by hand with I, O and Delete." : "Choose “Cut by hand” for the rest."}{" "}
              <Advice code={untranscribed ?? detected!.code} />
            </>
          )}
        </span>
      </p>
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
    </div>
  );
}

/** Says in which language the recording was transcribed, and how to get another one. */
export function TranscribedLanguage() {
  const { asset, editor } = useEditor();
  const code = asset.language ?? asset.language_detected?.code ?? editor.cut?.plan?.language ?? null;
  // The note says it too.
  if (code === null || isForeign(asset)) return null;
  return (
    <p class="soft">
      Transcribed in {nameLanguage(code)}. <Advice code={code} />
    </p>
  );
}

/** The language of a recording is fixed with its upload, so it is uploaded again. */
function Advice({ code }: { code: string }) {
  const { asset } = useEditor();
  const status = useRead(["status"], (signal) => must(api.GET("/api/v1/status", { signal }))).state.value;
  if (status.kind !== "ready") return null;
  const { languages } = status.value;
  const project = <a href={`/projects/${asset.project_id}`}>the project</a>;
  if (!asset.has_transcript) {
    const name = nameLanguage(code);
    if (languages.includes(code))
      return (
        <>
          This server recognizes {name} now: upload the recording again in {project}.
        </>
      );
    return (
      <>
        This server does not recognize {name}: once an administrator has added a model, upload the recording again in{" "}
        {project}.
      </>
    );
  }
  const others = languages.filter((one) => one !== code);
  if (others.length === 0)
    return <>This server recognizes only {nameLanguage(code)}: an administrator can add models of other languages.</>;
  return (
    <>
      To transcribe it in another language, choose a mode and the language under “Cut after upload” in {project}, then
      upload the recording again. This server also recognizes {toList(others.map(nameLanguage))}.
    </>
  );
}
