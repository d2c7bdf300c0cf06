import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { api, must } from "../../app/api";
import { useResource } from "../../app/resource";
import { useLiveReload } from "../../app/use-live-reload";
import { AssetStatus } from "../../ui/status";
import { type Asset, nameOf } from "./asset";
import { CutChooser } from "./cut-chooser";
import type { Cuts } from "./use-cuts";

type StudioBarProps = { asset: Asset; cuts: Cuts; children: ComponentChildren };

/** The recording's name, its cuts, and the actions for the open one. */
export function StudioBar({ asset, cuts, children }: StudioBarProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (document.activeElement === document.body || document.activeElement === null) heading.current?.focus();
  }, []);
  const name = nameOf(asset);
  return (
    <div class="studio-bar">
      <div class="studio-title">
        <ProjectLink id={asset.project_id} />
        <span class="soft" aria-hidden="true">
          /
        </span>
        <h1 ref={heading} class="truncate" tabIndex={-1} title={name} dir="auto">
          {name}
        </h1>
        {asset.state !== "ready" && <AssetStatus state={asset.state} cuttable={asset.cuttable} />}
      </div>
      <CutChooser cuts={cuts} />
      {children}
    </div>
  );
}

function ProjectLink({ id }: { id: string }) {
  const params = { path: { project_id: id } };
  const project = useResource((stop) => must(api.GET("/api/v1/projects/{project_id}", { params, signal: stop })), [id]);
  useLiveReload(["project.updated"], project, (changed) => changed === id);
  const state = project.state.value;
  const name = state.kind === "ready" ? state.value.name : "Project";
  return (
    <a class="truncate" href={`/projects/${id}`} title={name} dir="auto">
      {name}
    </a>
  );
}
