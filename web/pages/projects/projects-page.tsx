import { useCallback, useMemo, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { MAX_NAME_CHARACTERS, MAX_SEARCH_CHARACTERS } from "../../../src/domain/field-limits";
import { useActions } from "../../app/actions";
import { api, must, type Schemas } from "../../app/api";
import { useList } from "../../app/cache";
import { canWrite, workspace } from "../../app/session";
import { showFailure } from "../../app/toasts";
import { Button } from "../../ui/button";
import { Dialog, FormActions } from "../../ui/dialog";
import { Field, Form, Segments } from "../../ui/form";
import { Icon } from "../../ui/icon";
import { Page } from "../../ui/page";
import { LoadMore, RowList } from "../../ui/row-list";
import { Empty, ListSkeleton } from "../../ui/states";
import { RelativeTime } from "../../ui/time";
import { ProjectMenu } from "./project-menu";

type Project = Schemas["Project"];

const PAGE_SIZE = 100;
const STATES = [
  { value: "active", label: "Active" },
  { value: "archived", label: "Archived" },
] as const;

/** The start page: the workspace's projects, most recently used first. */
export function ProjectsPage() {
  const { route } = useLocation();
  const [text, setText] = useState("");
  const [state, setState] = useState<Project["state"]>("active");
  const [isCreating, setIsCreating] = useState(false);
  const list = useList<Project>(["projects", workspace.value?.id, text, state], (cursor, signal) => {
    const query = { limit: PAGE_SIZE, state, ...(cursor !== null && { cursor }), ...(text && { q: text }) };
    return must(api.GET("/api/v1/projects", { params: { query }, signal }));
  });
  useActions(
    useMemo(
      () =>
        canWrite.value
          ? [
              {
                name: "projects.create",
                label: "New project",
                group: "Projects",
                keys: ["n"],
                perform: () => setIsCreating(true),
              },
            ]
          : [],
      [canWrite.value],
    ),
  );
  const items = list.items.value;
  const drawProject = useCallback(
    (project: Project) => <ProjectRow key={project.id} project={project} onChange={() => void list.reload()} />,
    [list],
  );
  return (
    <Page
      title="Projects"
      actions={
        canWrite.value && (
          <Button icon="plus" look="primary" onClick={() => setIsCreating(true)}>
            New project
          </Button>
        )
      }
    >
      <div class="toolbar">
        <input
          class="input search"
          type="search"
          maxLength={MAX_SEARCH_CHARACTERS}
          aria-label="Search projects"
          placeholder="Search"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <Segments label="State" value={state} options={STATES} onChange={setState} />
      </div>
      {items === null && list.error.value === null && <ListSkeleton />}
      {items !== null && items.length > 0 && <RowList items={items} row={drawProject} />}
      {items?.length === 0 && <NoProjects text={text} state={state} onCreate={() => setIsCreating(true)} />}
      <LoadMore list={list} />
      {isCreating && (
        <NewProjectDialog
          onCreated={(project) => route(`/projects/${project.id}`)}
          onClose={() => setIsCreating(false)}
        />
      )}
    </Page>
  );
}

function NoProjects({ text, state, onCreate }: { text: string; state: Project["state"]; onCreate(): void }) {
  if (text !== "") return <Empty title={`No project matches “${text}”`} icon="search" />;
  if (state === "archived") return <Empty title="No archived projects" icon="projects" />;
  return (
    <Empty title={canWrite.value ? "Start with a project" : "No projects yet"} icon="projects">
      <p>
        A project holds the recordings of a series, a course or a client.
        {canWrite.value && " Drop a recording anywhere on this page: its project is named after it."}
      </p>
      {canWrite.value && (
        <div class="toolbar">
          <Button icon="plus" onClick={onCreate}>
            Create the first project
          </Button>
          <DemoButton />
        </div>
      )}
    </Empty>
  );
}

/** Uploads the demo talk like a recording of the user's. */
function DemoButton() {
  const { route } = useLocation();
  const [isLoading, setIsLoading] = useState(false);
  const start = async () => {
    setIsLoading(true);
    try {
      const [response, { uploadToNewProject }] = await Promise.all([
        fetch(DEMO_TALK_URL),
        import("../../upload/new-project"),
      ]);
      if (!response.ok) throw new Error("The demo talk was not found. Reload the page.");
      await uploadToNewProject([new File([await response.blob()], "Demo talk.mp4", { type: "video/mp4" })], route);
    } catch (error) {
      showFailure(error);
    }
    setIsLoading(false);
  };
  return (
    <Button isBusy={isLoading} onClick={() => void start()}>
      Try a demo talk
    </Button>
  );
}

const NewProjectDialog = ({
  onCreated,
  onClose,
}: {
  onCreated(project: Schemas["Project"]): void;
  onClose(): void;
}) => (
  <Dialog title="New project" onClose={onClose}>
    <Form
      class="dialog-body"
      onSend={async ({ name = "" }) => {
        const project = await must(api.POST("/api/v1/projects", { body: { name: name.trim(), cut_after_upload: {} } }));
        onClose();
        onCreated(project);
      }}
    >
      {({ errors, isSending }) => (
        <>
          <Field label="Name" name="name" maxLength={MAX_NAME_CHARACTERS} required isFirst error={errors.name} />
          <FormActions submitLabel="Create" isSending={isSending} onCancel={onClose} />
        </>
      )}
    </Form>
  </Dialog>
);

function ProjectRow({ project, onChange }: { project: Schemas["Project"]; onChange(): void }) {
  const [isRemoved, setIsRemoved] = useState(false);
  if (isRemoved) return null;
  return (
    <li class="row">
      <a class="row-link" href={`/projects/${project.id}`}>
        <Icon name="projects" />
        <span class="truncate" title={project.name} dir="auto">
          {project.name}
        </span>
      </a>
      <span class="soft row-time">
        <RelativeTime iso={project.last_activity_at} />
      </span>
      {canWrite.value && (
        <ProjectMenu
          project={project}
          onChange={onChange}
          onDeleted={() => {
            setIsRemoved(true);
            onChange();
          }}
        />
      )}
    </li>
  );
}
