/** A project as a tile: pictures of its newest recordings, its length, and the places that are left to review. */
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { mediaUrl, type Schemas } from "../../app/api";
import { formatCount, formatDuration } from "../../app/format";
import { Icon } from "../../ui/icon";
import { useChunks } from "../../ui/row-list";
import { RelativeTime } from "../../ui/time";
import { Envelope } from "../project/envelope";
import { ProjectMenu } from "./project-menu";

export type ListedProject = Schemas["ListedProject"];

/** Divisible by every number of columns up to six, so that only the last chunk ends with a gap. */
export const CHUNK_TILES = 60;

type TilesProps = {
  projects: ListedProject[];
  /** Must stay the same function between renders. */
  onChange(): void;
  /** Content after the last project. */
  children: ComponentChildren;
};

export function ProjectTiles({ projects, onChange, children }: TilesProps) {
  const chunks = useChunks(projects, CHUNK_TILES);
  return (
    <div class="projects">
      {chunks.map((some, number) => (
        <Chunk key={number} projects={some} onChange={onChange}>
          {number === chunks.length - 1 && children}
        </Chunk>
      ))}
    </div>
  );
}

const Chunk = ({ projects, onChange, children }: TilesProps) => {
  const tiles = useMemo(
    () => projects.map((project) => <ProjectTile key={project.id} project={project} onChange={onChange} />),
    [projects, onChange],
  );
  return (
    <ul class="project-chunk" style={{ "--tiles": projects.length }}>
      {tiles}
      {children}
    </ul>
  );
};

function ProjectTile({ project, onChange }: { project: ListedProject; onChange(): void }) {
  const [isRemoved, setIsRemoved] = useState(false);
  if (isRemoved) return null;
  const { id, name, totals, newest_assets } = project;
  const href = `/projects/${id}`;
  return (
    <li class="project">
      {/* biome-ignore lint/a11y/useAnchorContent: the heading has the same link. */}
      <a class="mosaic" href={href} tabIndex={-1} aria-hidden="true">
        {newest_assets.map(({ id, has_poster }) => (
          <span key={id}>
            {has_poster ? (
              <img src={mediaUrl(id, "poster")} alt="" loading="lazy" decoding="async" />
            ) : (
              <Envelope id={id} />
            )}
          </span>
        ))}
        {newest_assets.length === 0 && <Icon name="projects" />}
      </a>
      <div class="project-text">
        <h2>
          <a href={href} title={name} dir="auto">
            {name}
          </a>
        </h2>
        <ProjectMenu
          project={project}
          onChange={onChange}
          onDeleted={() => {
            setIsRemoved(true);
            onChange();
          }}
        />
        <p class="soft number">
          {totals.recordings === 0
            ? "No recordings yet"
            : `${formatCount(totals.recordings, "recording")} · ${formatDuration(totals.duration)}`}
        </p>
        <p class="project-foot">
          <LeftToDo totals={totals} />
          <RelativeTime iso={project.last_activity_at} />
        </p>
      </div>
    </li>
  );
}

function LeftToDo({ totals }: Pick<ListedProject, "totals">) {
  const { recordings, open_marks: marks, without_cut: uncut, uncounted } = totals;
  if (marks > 0)
    return (
      <b class="number">
        <Icon name="flag" />
        {formatCount(marks, "place")} to review
      </b>
    );
  if (uncut > 0) return <span class="number">{formatCount(uncut, "without a cut", "without a cut")}</span>;
  // Nobody knows yet what is left in the cuts of an older version.
  if (recordings === 0 || uncounted > 0) return <span />;
  return (
    <span>
      <Icon name="check" />
      All checked
    </span>
  );
}
