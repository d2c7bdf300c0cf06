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

/** Options of both kinds of lists. */
type AnyList<Filters extends TProperties, Row, Name extends SchemaName> = {
  summary: string;
  access?: Partial<Omit<RouteAccess, "authentication">>;
  /** Query parameters besides those of paging. Defaults to none. */
  filters?: Filters;
  /** The schema of an item, and the description of a page. */
  item: Name;
  description: string;
  show(call: Call, row: Row): Resource<Name> | Promise<Resource<Name>>;
};

/** `after`: the sort key of the row that precedes the page. */
type ListInput<Filters extends TProperties, Parent, Key> = {
  filters: Static<TObject<Filters>>;
  parent: Parent;
  after: Key | null;
  limit: number;
};

type ListDefinition<Filters extends TProperties, Parent, Row, Key extends SortKey, Name extends SchemaName> = AnyList<
  Filters,
  Row,
  Name
> & {
  /** Bounds of `limit`; by default at most 100, 20 if the client sends none. */
  limits?: { max: number; default: number };
  /** The resource in the path to which the list belongs. */
  load?: ResourceLoader<Parent>;
  read(call: Call, input: ListInput<Filters, Parent, Key>): Promise<RowPage<Row>>;
  /** Default: the ID alone. */
  sortKey?(row: Row): Key;
};

/** Identifies a list: a cursor is valid only for the list of its page. */
function identifyList({ request, principal }: Call, names: string[], filters: Record<string, unknown>): string {
  const given = names.map((name) => filters[name] ?? null);
  return JSON.stringify([new URL(request.url).pathname.toLowerCase(), principal.workspace.id, ...given]);
}

export function listRoute<
  Filters extends TProperties,
  Row,
  Name extends SchemaName,
  Key extends SortKey = [string],
  Parent = undefined,
>(definition: ListDefinition<Filters, Parent, Row, Key, Name>): RouteHandler {
  const { max, default: usual } = definition.limits ?? { max: 100, default: 20 };
  const names = Object.keys(definition.filters ?? {});
  const { sortKey = (row: Row): SortKey => [(row as { id: string }).id] } = definition;
  return route({
    summary: definition.summary,
    access: definition.access ?? {},
    query: strictObject({ ...pagingParameters(max, usual), ...definition.filters } as TProperties),
    responses: { 200: respondsWithPage(definition.item, definition.description) },
    load: definition.load,
    handle: async (call, { query, resource }) => {
      const { limit, cursor, ...filters } = query as { limit: number; cursor?: string };
      const { cursors } = call.services;
      const scope = identifyList(call, names, filters);
      const after = cursor === undefined ? null : (cursors.decode(scope, cursor) as Key);
      const input = { filters: filters as Static<TObject<Filters>>, parent: resource as Parent, after, limit };
      const { rows, hasMore } = await definition.read(call, input);
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

type OffsetListDefinition<Filters extends TProperties, Row, Name extends SchemaName> = AnyList<Filters, Row, Name> & {
  read(call: Call, page: OffsetListInput<Filters>): Promise<CountedRows<Row>>;
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
