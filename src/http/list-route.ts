/**
 * Lists. Keyset paging has `limit` and `cursor` in the query, `items` and `next_cursor` in the response. Lists of the
 * dashboard family only have `limit` and `offset` in the query; `items`, `total` in the response.
 */
import type { Static, TObject, TProperties } from "@sinclair/typebox";
import { integerField, pagingParameters, strictObject } from "../domain/schema-parts";
import type { SortKey } from "../store/paging";
import type { CountedRows, OffsetPage, RowPage } from "../store/rows";
import type { RouteAccess } from "../work/access/access";
import { type Call, ok } from "./call";
import { respondsWithOffsetPage, respondsWithPage } from "./response-docs";
import { type ResourceLoader, type RouteHandler, route } from "./route";
import type { Resource, SchemaName } from "./schemas";

type ListInput<Filters extends TProperties, Parent> = { filters: Static<TObject<Filters>>; parent: Parent };

type ListDefinition<Filters extends TProperties, Parent, Row, Key extends SortKey, Name extends SchemaName> = {
  summary: string;
  access?: Partial<Omit<RouteAccess, "authentication">>;
  /** Query parameters besides `limit` and `cursor`. Defaults to none. */
  filters?: Filters;
  /** Bounds of `limit`; by default at most 100, 20 if the client sends none. */
  limits?: { max: number; default: number };
  /** The schema of an item, and the description of a page. */
  item: Name;
  description: string;
  /** The resource in the path to which the list belongs. */
  load?: ResourceLoader<Parent>;
  /** Identifies the list: its kind, its owner and the active filters. A cursor is valid only for its own list. */
  scope(call: Call, input: ListInput<Filters, Parent>): (string | undefined)[];
  /** Reads at most `limit` rows that follow the sort key `after`. */
  read(call: Call, input: ListInput<Filters, Parent> & { after: Key | null; limit: number }): Promise<RowPage<Row>>;
  /** Default: the ID alone. */
  sortKey?(row: Row): Key;
  show(call: Call, row: Row): Resource<Name> | Promise<Resource<Name>>;
};

export function listRoute<
  Filters extends TProperties,
  Row,
  Name extends SchemaName,
  Key extends SortKey = [string],
  Parent = undefined,
>(definition: ListDefinition<Filters, Parent, Row, Key, Name>): RouteHandler {
  const { max, default: usual } = definition.limits ?? { max: 100, default: 20 };
  const { sortKey = (row: Row): SortKey => [(row as { id: string }).id] } = definition;
  return route({
    summary: definition.summary,
    access: definition.access ?? {},
    query: strictObject({ ...pagingParameters(max, usual), ...definition.filters } as TProperties),
    responses: { 200: respondsWithPage(definition.item, definition.description) },
    load: definition.load,
    handle: async (call, { query, resource }) => {
      const { limit, cursor, ...filters } = query as { limit: number; cursor?: string };
      const input = { filters: filters as Static<TObject<Filters>>, parent: resource as Parent };
      const { cursors } = call.services;
      const scope = definition.scope(call, input).join(" ");
      const after = cursor === undefined ? null : (cursors.decode(scope, cursor) as Key);
      const { rows, hasMore } = await definition.read(call, { ...input, after, limit });
      const last = rows.at(-1);
      return ok({
        items: await Promise.all(rows.map((row) => definition.show(call, row))),
        limit,
        next_cursor: hasMore && last !== undefined ? cursors.encode(scope, sortKey(last)) : null,
      });
    },
  });
}

const MAX_LIMIT = 100;
const DEFAULT_LIMIT = 20;
const MAX_OFFSET = 1_000_000_000;

/** The query parameters of every such list. */
export const offsetParameters = {
  limit: { ...integerField(1, MAX_LIMIT), default: DEFAULT_LIMIT },
  offset: { ...integerField(0, MAX_OFFSET), default: 0 },
};

type OffsetListInput<Filters extends TProperties> = OffsetPage & { filters: Static<TObject<Filters>> };

type OffsetListDefinition<Filters extends TProperties, Row, Name extends SchemaName> = {
  summary: string;
  access?: Partial<Omit<RouteAccess, "authentication">>;
  /** Query parameters besides `limit` and `offset`. Defaults to none. */
  filters?: Filters;
  /** The schema of an item, and the description of a page. */
  item: Name;
  description: string;
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
