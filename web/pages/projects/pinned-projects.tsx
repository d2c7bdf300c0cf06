/** The pinned projects in the side bar. They are loaded when the user has pinned one. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { useLocation } from "preact-iso";
import { api, mediaUrl, must, type Schemas } from "../../app/api";
import { useRead } from "../../app/cache";
import { MAX_PINS, pinnedIds, shownPins } from "../../app/pins";
import { workspace } from "../../app/session";
import { Icon } from "../../ui/icon";

export default function PinnedProjects() {
  const { path } = useLocation();
  const ids = pinnedIds.value;
  const read = useRead(["projects", workspace.value?.id, "pinned", ids], (signal) => {
    const query = { ids: ids.join(","), limit: MAX_PINS };
    return must(api.GET("/api/v1/projects", { params: { query }, signal }));
  });
  // The other projects stay in place while the list with a new one loads.
  const latest = useRef<Schemas["ListedProject"][]>([]);
  const { value } = read.state;
  if (value.kind === "ready") latest.current = value.value.items;
  const projects = ids.flatMap((id) => latest.current.find((project) => project.id === id) ?? []);
  useLayoutEffect(() => {
    shownPins.value = projects.map(({ id }) => id);
  }, [projects.map(({ id }) => id).join()]);
  useLayoutEffect(
    () => () => {
      shownPins.value = [];
    },
    [],
  );
  if (projects.length === 0) return null;
  return (
    <div class="pinned">
      <h2 id="pinned-title">Pinned</h2>
      <ul aria-labelledby="pinned-title">
        {projects.map(({ id, name, newest_assets }) => {
          const picture = newest_assets.find(({ has_poster }) => has_poster);
          return (
            <li key={id}>
              <a href={`/projects/${id}`} title={name} aria-current={path === `/projects/${id}` ? "page" : undefined}>
                {picture ? (
                  <img src={mediaUrl(picture.id, "poster")} alt="" decoding="async" />
                ) : (
                  <Icon name="projects" />
                )}
                <span class="truncate" dir="auto">
                  {name}
                </span>
              </a>
            </li>
          );
        })}
      </ul>
    </div>
  );
}
