/**
 * A connection to the database file that keeps its prepared statements. The client of the driver prepares each
 * statement again and asks twice for its columns, which costs more than most queries.
 */
import { type InStatement, LibsqlError, type ResultSet } from "@libsql/client";
import Database from "libsql";

export type StoreConnection = ReturnType<typeof openConnection>;

/** Maximum number of cached statements, the most recently used ones. */
const MAX_KEPT_STATEMENTS = 400;
/**
 * Maximum length of a cached statement. Longer ones contain a list, and each length of the list is another statement.
 */
const MAX_KEPT_SQL = 8_000;
/** A statement holds a copy of its arguments until it is used again. */
const MAX_KEPT_ARGUMENT = 16_000;
/** SQLite prepares these again when the schema has changed. A PRAGMA may take effect when it is prepared. */
const PREPARED = /^\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH|BEGIN|COMMIT|SAVEPOINT|RELEASE|ROLLBACK)\b/i;

type Statement = { run(args: unknown[]): Database.RunResult } & (
  | { all: null }
  | { all(args: unknown[]): unknown[][]; columns: string[]; Row: RowClass }
);

/** Opens the file at `path`, creating it if necessary. Throws `LibsqlError`. */
export function openConnection(path: string) {
  const database = translateErrors(() => new Database(path));
  database.defaultSafeIntegers(true);
  const kept = new Map<string, Statement>();
  let isClosed = false;

  /** Takes a kept statement out of the map, or prepares it. */
  function take(sql: string): Statement {
    if (isClosed) throw new LibsqlError("The client is closed", "CLIENT_CLOSED");
    const known = kept.get(sql);
    if (known === undefined) return prepare(database, sql);
    kept.delete(sql);
    return known;
  }

  function keep(sql: string, args: unknown[], statement: Statement): void {
    if (sql.length > MAX_KEPT_SQL || !PREPARED.test(sql) || args.some(isLarge)) return;
    kept.set(sql, statement);
    if (kept.size > MAX_KEPT_STATEMENTS) kept.delete(kept.keys().next().value!);
  }

  function execute(sql: string, args: unknown[]): ResultSet {
    return translateErrors(() => {
      // One that fails is not kept.
      const statement = take(sql);
      const result = statement.all === null ? toResult(statement.run(args)) : selectRows(statement, args);
      keep(sql, args, statement);
      return result;
    });
  }

  return {
    execute: async (statement: InStatement) => {
      const { sql, args = [] } = typeof statement === "string" ? { sql: statement } : statement;
      if (!Array.isArray(args)) throw new TypeError("named arguments are not supported");
      return execute(sql, args.map(toArgument));
    },
    /** Runs a statement without arguments and results. */
    run: (sql: string): void => void execute(sql, []),
    // The driver aborts the process when a closed connection is asked.
    isInTransaction: () => !isClosed && database.inTransaction,
    close: () => {
      if (isClosed) return;
      isClosed = true;
      kept.clear();
      database.close();
    },
  };
}

const isLarge = (value: unknown): boolean =>
  (typeof value === "string" || value instanceof Uint8Array) && value.length > MAX_KEPT_ARGUMENT;

function prepare(database: Database.Database, sql: string): Statement {
  const statement = database.prepare(sql);
  const run = (args: unknown[]) => statement.run(args);
  if (!statement.reader) return { run, all: null };
  statement.raw(true);
  const columns = statement.columns().map(({ name }) => name);
  return { run, all: (args) => statement.all(args) as unknown[][], columns, Row: createRowClass(columns) };
}

type RowClass = new (values: unknown[]) => ResultSet["rows"][number];

/** Rows have their values by name, and by index as Drizzle reads them. Only the names are enumerable. */
function createRowClass(columns: string[]): RowClass {
  const names = new Map<string, number>();
  class ResultRow {
    readonly #values: unknown[];
    constructor(values: unknown[]) {
      this.#values = values;
      for (const [name, index] of names) (this as Record<string, unknown>)[name] = values[index];
    }
    static defineIndex(index: number): void {
      Object.defineProperty(ResultRow.prototype, index, {
        get(this: ResultRow) {
          return this.#values[index];
        },
      });
    }
    get length(): number {
      return columns.length;
    }
  }
  for (const index of columns.keys()) ResultRow.defineIndex(index);
  for (const [index, name] of columns.entries())
    if (!names.has(name) && !Object.hasOwn(ResultRow.prototype, name)) names.set(name, index);
  return ResultRow as unknown as RowClass;
}

function selectRows({ all, columns, Row }: Extract<Statement, { columns: string[] }>, args: unknown[]): ResultSet {
  const rows = all(args).map((values) => new Row(values.map(toValue)));
  return { columns, columnTypes: [], rows, rowsAffected: 0, lastInsertRowid: undefined, toJSON: () => rows };
}

const toResult = ({ changes, lastInsertRowid }: Database.RunResult): ResultSet => ({
  columns: [],
  columnTypes: [],
  rows: [],
  rowsAffected: changes,
  lastInsertRowid: BigInt(lastInsertRowid),
  toJSON: () => [],
});

function toValue(value: unknown): unknown {
  if (typeof value === "bigint") {
    const number = Number(value);
    if (!Number.isSafeInteger(number))
      throw new RangeError("Received integer which cannot be safely represented as a JavaScript number");
    return number;
  }
  return value instanceof Buffer ? value.buffer : value;
}

function toArgument(value: unknown): unknown {
  switch (typeof value) {
    case "number":
      if (!Number.isFinite(value)) throw new RangeError("Only finite numbers can be passed as arguments");
      return value;
    case "boolean":
      return value ? 1 : 0;
    case "undefined":
      throw new TypeError("undefined cannot be passed as argument to the database");
    default:
      return value instanceof ArrayBuffer ? Buffer.from(value) : value;
  }
}

/**
 * Throws errors of SQLite as those of the client: their `code` is the part that all errors of a kind share,
 * `SQLITE_CONSTRAINT`.
 */
function translateErrors<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error;
    const { message, code, rawCode } = error as Error & { code: string; rawCode?: number };
    throw new LibsqlError(message, /^SQLITE_[A-Z]+/.exec(code)?.[0] ?? "SQLITE_UNKNOWN", code, rawCode, error as Error);
  }
}
