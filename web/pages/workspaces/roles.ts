/** Texts for the roles in a workspace. */
import type { Workspace } from "../../app/session";

export type Role = Workspace["role"];

export const ROLES: { value: Role; label: string; detail: string }[] = [
  { value: "viewer", label: "Viewer", detail: "can view, play and download everything, but cannot change anything" },
  {
    value: "editor",
    label: "Editor",
    detail: "can also upload, cut, render and delete, using the workspace's credits",
  },
  { value: "owner", label: "Owner", detail: "can also manage members, credits and the workspace itself" },
];

/** Returns the name of a role in a sentence, such as "an editor". */
export const withArticle = (role: Role): string => (role === "viewer" ? "a viewer" : `an ${role}`);

export const toRoleName = (role: Role): string => ROLES.find(({ value }) => value === role)?.label ?? role;
