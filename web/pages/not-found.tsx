import { useTitle } from "../ui/page";
import { Empty } from "../ui/states";

/** Shown for a path that does not exist, and for resources of other users. */
export default function NotFoundPage() {
  useTitle("Page not found");
  return (
    <Empty title="Page not found" icon="search" isPage>
      <p>It may have been deleted, or you may not have access to it.</p>
      <a class="button" href="/projects">
        Back to the projects
      </a>
    </Empty>
  );
}
