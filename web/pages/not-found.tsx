import { useTitle } from "../app/use-title";
import { Empty } from "../ui/states";

/** The page of a path that does not exist, or of something that belongs to somebody else. */
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
