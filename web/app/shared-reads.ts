/** Data that several pages read in the same way. */
import { api, must, type Schemas } from "./api";
import { type Resource, useRead } from "./cache";
import { workspace } from "./session";

/** The ways to sign in and to join, and whether the server can send email. */
export const useSignInMethods = (): Resource<Schemas["AuthMethods"]> =>
  useRead(["sign-in-methods"], (signal) => must(api.GET("/api/v1/auth/methods", { signal })));

export const useStatus = (options: { refreshMs?: number } = {}): Resource<Schemas["ServerStatus"]> =>
  useRead(["status"], (signal) => must(api.GET("/api/v1/status", { signal })), options);

/** A project of the workspace that pages show. */
export const useProject = (id: string): Resource<Schemas["Project"]> =>
  useRead(["project", id, workspace.value?.id], (signal) =>
    must(api.GET("/api/v1/projects/{project_id}", { params: { path: { project_id: id } }, signal })),
  );
