import { chosenOf } from '../preferences.js';
import en from './text/en.js';
import zh from './text/zh.js';

/** The texts of the shop. */
export const words = chosenOf(en, zh);

/**
 * What an error means in the shop, which has no field for the token.
 * @param {any} error
 */
export const inShop = (error) => (error.code === 'forbidden' ? words().forbidden : error.message);
