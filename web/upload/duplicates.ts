/** Finds files that the project already has. */
import { api, must } from "../app/api";

/** Returns the names of those files that have the name and the size of a recording of the project. */
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
