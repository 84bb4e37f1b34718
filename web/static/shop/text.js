// The texts of the shop, here in English. text/zh.js has the same keys in Chinese.
import { chosenOf } from '../preferences.js';
import { count, ms, plural } from '../ui.js';
import zh from './text/zh.js';

const units = (n) => plural(n, 'unit');
const others = (n) => (n === 1 ? 'one other buyer' : `${count(n)} others`);
const nth = (n) => `${count(n)}${{ one: 'st', two: 'nd', few: 'rd' }[new Intl.PluralRules('en', { type: 'ordinal' }).select(n)] ?? 'th'}`;
const time = (n) => (n < 1000 ? ms(n) : `${(n / 1000).toFixed(1)} s`);
const lastUnit = (all) => (all?.selling_seconds ? `The rivals had their last unit ${time(1000 * all.selling_seconds)} after they came.` : '');

const en = {
  title: 'Flash sale',
  skip: 'Skip to the product',

  product: 'Pocket power station', price: '$49', was: '$199', wasLabel: 'before: $199', priceHint: 'for show: you pay nothing',

  loading: 'Loading the sale …',
  nothing: 'Nothing is on sale yet. Start a sale below.',
  soldBy: 'Sold by the strategy ',

  starts: 'The sale starts in', seconds: (/** @type {number} */ n) => (n === 1 ? 'second' : 'seconds'),
  on: 'The sale is on',
  left: (n, all) => `${count(n)} of ${count(all)} left`,
  unread: 'The stock’s counter cannot be read right now: the number may be out of date.',
  below: (n) => `${count(-n)} more sold than there were`,
  over: 'Sold out',
  gone: 'None left. If a buyer cancels, the unit is for sale again.',
  onePerPerson: 'One per person. ',

  buy: 'Buy one', reserve: 'Reserve one',
  buying: 'One moment …',
  wait: 'Not yet',
  ask: 'Ask again',

  results: {
    sold: { title: 'It is yours', text: 'The order is in the ledger.' },
    sold_out: { title: 'Sold out', text: 'The last unit went to another buyer.' },
    duplicate: { title: 'One per person', text: 'You already have one. To buy another, cancel it first.' },
    busy: { title: 'Busy', text: 'Too many buyers at once. Nothing was sold to you. Try again.' },
    not_started: { title: 'Not started', text: 'The shop’s server says that the sale has not started. Nothing was sold to you.' },
    unavailable: { title: 'The shop cannot sell right now', text: 'Nothing was sold to you. Try again in a moment.' },
    looking: { title: 'Looking it up', text: 'The answer was lost. Checking the ledger for your purchase …' },
    unknown: { title: 'Not known yet', text: 'There is no order so far, but it may still appear. Ask again: the same idempotency key cannot buy twice.' },
    refused: { title: 'Refused', text: 'The shop did not accept this order.' },
  },

  reservation: {
    left: 'Time left to pay', seconds: (n) => (n > 0 ? `${n === 1 ? 'second' : 'seconds'} left to pay` : 'time is up; asking the shop …'),
    pay: 'Pay', cancel: 'Cancel', doing: { pay: 'Paying …', cancel: 'Cancelling …' },
    states: {
      reserved: { title: 'Reserved for you', text: 'Pay before the time is up, or the unit goes back on sale. The shop’s clock decides.' },
      paid: { title: 'Paid: it is yours', text: 'The order is in the ledger.' },
      expired: { title: 'Expired', text: 'It was not paid in time. Nothing was paid, and the unit is for sale again.' },
      cancelled: { title: 'Cancelled', text: 'The unit is for sale again.' },
    },
    late: 'Your payment came after the deadline and was refused.',
    unknown: {
      pay: 'It is not known whether it is paid. Press Pay again: paying twice is paying once.',
      cancel: 'It is not known whether it is cancelled. Press Cancel again: that does no harm.',
    },
  },

  you: 'You are buyer',
  change: 'Switch buyer',
  keep: 'Use this number',
  userLabel: 'Buyer’s number',
  userHint: 'The lab has no passwords: any number will do.',
  userWrong: 'Enter a whole number from 1 to 9,007,199,254,740,991.',

  orders: 'Your orders',
  none: 'None yet.',
  active: 'bought', cancelled: 'cancelled', expired: 'expired', reserved: 'reserved', paid: 'paid',
  cancel: 'Cancel',
  cancelling: 'Cancelling …',
  cancelOrder: (id) => `Cancel order ${id}`,
  wasCancelled: 'Cancelled. The unit is for sale again.',
  ordersLost: 'Your orders cannot be read right now.',

  rivals: {
    title: 'Rivals',
    how: 'How many',
    send: (n) => `Send ${count(n)} rivals`,
    hint: 'They want these units, too, and press three seconds later, or when the sale starts. Press your button when they do.',
    late: 'Nothing is left to compete for: start the next sale.',
    come: (n) => `${count(n)} rivals come in`,
    here: (n) => `${count(n)} rivals are pressing. Press, too!`,
    answered: 'Rivals who have an answer',
    progress: (answered, sold) => `${count(answered)} have an answer, ${count(sold)} have bought.`,
    judging: 'All have an answer. The ledger is being judged …',
    stop: 'Stop the rivals',
  },
  forbidden: 'Only the machine that runs the lab may do that, or a page with the lab’s token: enter it under “Run”.',
  story: {
    title: 'What happened',
    shared: {
      title: ({ yours }) => `You and ${others(yours.holders - 1)} hold unit ${count(yours.remaining + yours.quantity)}`,
      text: ({ yours }) => `The ledger has ${count(yours.holders)} orders for this one unit. Only one of you will get it.`,
    },
    never: {
      title: ({ initial, yours }) => `You hold the ${nth(initial - yours.remaining)} unit of ${count(initial)}`,
      text: ({ initial }) => `There are only ${units(initial)}: yours never was there.`,
    },
    got: {
      title: ({ yours }) => `You got it, with the ${nth(yours.place)} order`,
      text: ({ yours }) => (yours.holders === 1 ? `Unit ${count(yours.remaining + yours.quantity)} is in the ledger under your number, and under no other.` : 'The order is in the ledger.'),
    },
    held: { title: () => 'You have reserved one', text: () => 'It is yours when you have paid. Until the deadline no rival can buy it.' },
    late: {
      title: (_, all) => `Sold out: ${count(all?.requests ?? 0)} rivals were here`,
      text: (_, all, { took }) => `You were told after ${time(took)}. ${lastUnit(all)}`,
    },
    unknown: { title: () => 'Not known', text: () => 'Your answer was lost or took too long. That is not “sold out”: you may still have bought. Ask again.' },
    refused: { title: () => 'Nothing was sold to you', text: () => 'The shop refused you for another reason than the stock; the answer above says which.' },
    absent: { title: () => 'You have bought nothing', text: (_, all) => `Press the button while the rivals do. ${lastUnit(all)}` },
    verdict: {
      held: ({ sold, initial }) => `${count(sold)} of ${units(initial)} sold, each to one buyer.`,
      oversold: ({ sold, initial, twice }) => `${units(sold)} sold, and there were ${count(initial)}.${twice > 0 ? ` ${units(twice)} went to several buyers.` : ''}`,
      lost: () => 'The ledger does not balance: the whole run has the details.',
      blocked: () => 'The sale stood still while units were left.',
      not_valid: () => 'This run proves nothing: the whole run says why.',
    },
    play: 'See how it breaks, step by step',
    lesson: (name) => `The lesson on ${name}`,
    run: 'The whole run, under “Run”',
    repair: (name) => `Sell with one that holds: ${name}`,
    broken: (name) => `Sell with one that breaks: ${name}`,
  },
  ledger: {
    title: 'The ledger',
    intro: 'Every order and reservation, as it is written. Newest first.',
    lost: 'The ledger cannot be read right now. Trying again …',
    left: 'Units left', sold: 'Units sold', reserved: 'Reserved', twice: 'Sold twice',
    tooMany: (n) => `${units(n)} more sold than there were.`,
    givenBack: 'Orders were cancelled or have expired, so a unit may be sold again, and double sales cannot be counted.',
    orders: 'Latest orders',
    place: 'Order', user: 'Buyer', remaining: 'Left after it', holders: 'Same unit sold to',
    shared: (unit, n) => `⚠ unit ${count(unit)}: ${count(n)}`,
    never: '⚠ never there',
    you: 'you',
    none: 'No orders yet.',
  },

  next: {
    title: 'The next sale', strategy: 'Strategy', stock: 'Units', broken: 'broken on purpose',
    put: 'Start the next sale', putting: 'Waiting for purchases in progress …', hint: 'Ends this sale and deletes its orders.',
    add: (n) => `Add ${units(n)} to this sale`, adding: 'Adding …', addHint: 'Restocks the sale that is on. Its orders stay.',
  },
};

export const words = chosenOf(en, zh);

/**
 * What an error means in the shop, which has no field for the token.
 * @param {any} error
 */
export const inShop = (error) => (error.code === 'forbidden' ? words().forbidden : error.message);
