// The service's JSON: what is on sale, and orders.
declare namespace Json {
  /** GET /api/lab/v1/shop; stock: where the strategy keeps it. */
  interface Shop {
    sku_id: number;
    strategy: string;
    stock: string;
    reserves: boolean; // its strategy has reservations
    now: string; // by the lab's clock, by which rivals come
    rivals: Run | null; // the last that were sent
    joined: number; // the run of the SKU that they joined
  }

  /** GET /api/lab/v1/shop/ledger */
  interface ShopLedger {
    run: number;
    initial: number;
    sold: number; // without
    reserved: number; // units that are not paid yet
    twice: number; // units with two holders or more
    holders_known: boolean; // false once units were given back
    latest: ShopOrder[]; // newest first
    yours?: ShopOrder;
  }

  interface ShopOrder {
    place: number; // in the sale, from 1
    user_id: number;
    quantity: number;
    remaining: number;
    status: string;
    reservation?: ReservationState; // if the order began as one
    holders: number; // of its units, with itself; 0: not known
    at: string;
  }

  /** GET /api/v1/skus/ID */
  interface SKU {
    id: number;
    name: string;
    initial: number;
    num: number;
    run: number;
    starts_at: string | null;
    now: string;
    stock_stores?: Record<string, number>;
  }

  interface Order {
    order_id: string;
    request_id: string;
    sku_id: number;
    user_id: number;
    quantity: number;
    remaining: number;
    status: string;
    strategy: string;
    created_at: string;
    reservation?: { state: ReservationState; expires_at?: string }; // that it began as
  }

  type ReservationState = 'reserved' | 'paid' | 'expired' | 'cancelled';
}
