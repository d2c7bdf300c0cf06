/**
 * `bun run db:generate` writes the next migration: the difference between the tables and the newest snapshot in
 * `meta/`.
 */
import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "sqlite",
  schema: [
    "./src/store/schema-accounts.ts",
    "./src/store/schema.ts",
    "./src/store/schema-cuts.ts",
    "./src/store/schema-outbox.ts",
    "./src/store/schema-billing.ts",
    "./src/store/schema-notifications.ts",
    "./src/store/schema-workers.ts",
    "./src/store/schema-upkeep.ts",
    "./src/store/schema-search.ts",
  ],
  out: "./migrations",
});
