/** Asks for the password when a call needs a recent sign-in. The dialog is in `shell/password-dialog.tsx`. */
import { signal } from "@preact/signals";

export type PasswordRequest = { resolve(isConfirmed: boolean): void };

export const passwordRequest = signal<PasswordRequest | null>(null);
let asking: Promise<boolean> | null = null;

/** Returns whether the user signed in again. Calls at the same time share one dialog. */
export function confirmPassword(): Promise<boolean> {
  asking ??= new Promise<boolean>((resolve) => {
    passwordRequest.value = { resolve };
  }).finally(() => {
    passwordRequest.value = null;
    asking = null;
  });
  return asking;
}
