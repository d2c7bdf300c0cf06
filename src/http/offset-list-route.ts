/** Lists of the dashboard family only: `limit` and `offset` in the query; `items`, `total` in the response. */
import { type Static, type TObject, type TProperties, Type } from "@sinclair/typebox";
import type { CountedRows, OffsetPage } from "../store/rows";
import type { RouteAccess } from "../work/access/access";
import { type Call, ok } from "./call";
import { strictObject } from "./fields";
import { respondsWithOffsetPage } from "./response-docs";
import { type RouteHandler, route } from "./route";
import type { Resource, SchemaName } from "./schemas";

const MAX_LIMIT = 100;
const DEFAULT_LIMIT = 20;
const MAX_OFFSET = 1_000_000_000;

const integerParameter = (minimum: number, maximum: number, initial: number) =>
  Type.Integer({ minimum, maximum, default: initial, errorText: `must be an integer from ${minimum} to ${maximum}` });

/** The query parameters of every such list. */
export const offsetParameters = {
  limit: integerParameter(1, MAX_LIMIT, DEFAULT_LIMIT),
  offset: integerParameter(0, MAX_OFFSET, 0),
};

type OffsetListInput<Filters extends TProperties> = OffsetPage & { filters: Static<TObject<Filters>> };

type OffsetListDefinition<Filters extends TProperties, Row, Name extends SchemaName> = {
  summary: string;
  /** Differences from the default access. */
  access?: Partial<Omit<RouteAccess, "authentication">>;
  /** Query parameters besides `limit` and `offset`. Defaults to none. */
  filters?: Filters;
  /** The schema of an item, and the description of a page. */
  item: Name;
  description: string;
  /** Reads the rows of a page, and counts those of all pages. */
  read(call: Call, page: OffsetListInput<Filters>): Promise<CountedRows<Row>>;
  show(call: Call, row: Row): Resource<Name> | Promise<Resource<Name>>;
};

export function offsetListRoute<Row, Name extends SchemaName, Filters extends TProperties = TProperties>(
  definition: OffsetListDefinition<Filters, Row, Name>,
): RouteHandler {
  return route({
    summary: definition.summary,
    access: definition.access ?? {},
    query: strictObject({ ...offsetParameters, ...definition.filters } as TProperties),
    responses: { 200: respondsWithOffsetPage(definition.item, definition.description) },
    handle: async (call, { query }) => {
      const { limit, offset, ...filters } = query as OffsetPage;
      const page = { filters: filters as Static<TObject<Filters>>, limit, offset };
      const { rows, total } = await definition.read(call, page);
      const items = await Promise.all(rows.map((row) => definition.show(call, row)));
      return ok({ items, total, limit, offset });
    },
  });
}
