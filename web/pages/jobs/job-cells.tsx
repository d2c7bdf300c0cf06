import { nameInput, namePipeline, type Pipeline } from "../../app/pipelines";
import { session } from "../../app/session";

/** A job with a link to its page, and its recording below. */
export const JobCell = ({ pipeline }: { pipeline: Pipeline }) => (
  <span class="job-name">
    <a href={`/jobs/${pipeline.id}`}>{namePipeline(pipeline)}</a>
    <RecordingLink pipeline={pipeline} />
  </span>
);

/** The recording, with a link to it while it exists. */
export const RecordingLink = ({ pipeline }: { pipeline: Pipeline }) => {
  const name = nameInput(pipeline);
  return pipeline.input_asset_id === null || pipeline.input_asset_deleted ? (
    <span class="soft">{name}</span>
  ) : (
    <a class="truncate soft" href={`/assets/${pipeline.input_asset_id}`} title={name} dir="auto">
      {name}
    </a>
  );
};

/** The user who started the job. */
export const StarterCell = ({ pipeline }: { pipeline: Pipeline }) => (
  <span class="truncate" dir="auto">
    {nameStarter(pipeline)}
  </span>
);

function nameStarter({ created_by: user }: Pipeline): string {
  if (!user) return "Deleted account";
  if (session.value.kind === "signed-in" && session.value.me.id === user.id) return "You";
  return user.name ?? "Member without a name";
}
