import { useState } from "preact/hooks";
import { api, must } from "../../app/api";
import { toLocalAddress } from "../../app/local-address";
import type { Pipeline, Step } from "../../app/pipelines";
import { openDownload } from "../../app/save-file";
import { showFailure } from "../../app/toasts";
import { Button } from "../../ui/button";

/** The output of a step, with a link to it. */
export function StepOutput({ step, pipeline }: { step: Step; pipeline: Pipeline }) {
  const { state, processor_name: name } = step;
  if (state === "failed" || state === "cancelled") return <>None</>;
  if (state !== "completed") return <>Not yet</>;
  if (step.output_asset_deleted) return <>Deleted</>;
  if (pipeline.input_asset_id === null || pipeline.input_asset_deleted) return <>Deleted with the recording</>;
  const href = `/assets/${pipeline.input_asset_id}`;
  if (name === "cut") return <a href={`${href}?cut=${step.cut_id}`}>The cut, on the page of the recording</a>;
  if (name === "render" && step.render_id !== null) return <RenderOutput id={step.render_id} href={href} />;
  return <a href={href}>The recording, ready to cut</a>;
}

function RenderOutput({ id, href }: { id: string; href: string }) {
  const [isBusy, setIsBusy] = useState(false);
  const download = async () => {
    setIsBusy(true);
    try {
      const params = { path: { render_id: id } };
      const { download_url: link, output } = await must(api.GET("/api/v1/renders/{render_id}", { params }));
      if (link !== null) openDownload(toLocalAddress(link), `render.${output.format}`);
    } catch (error) {
      showFailure(error);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <span class="toolbar">
      <a href={href}>View the render</a>
      <Button icon="download" isBusy={isBusy} onClick={() => void download()}>
        Download
      </Button>
    </span>
  );
}
