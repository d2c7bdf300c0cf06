/** Detects files that the project already contains. */
import { api, must } from "../app/api";

/** Returns the names of the files with the same name and size as a recording in the project. */
export async function findDuplicates(projectId: string, files: File[]): Promise<string[]> {
  const found = await Promise.all(
    files.map(async ({ name, size }) => {
      const query = { project_id: projectId, q: name.slice(0, 256), limit: 100 };
      const { items } = await must(api.GET("/api/v1/assets", { params: { query } }));
      return items.some((asset) => asset.filename === name && asset.size_bytes === size) ? [name] : [];
    }),
  );
  return found.flat();
}
