//! Lists of prices, and pages with the word menu, that are no menus.

use crate::check_none;

#[test]
fn shelves_and_shops() {
    check_none(
        "<title>Pasta & Rice | FreshMart Online Shop</title><h1>Pasta</h1><div class=p><a href=/1>Spaghetti 500 g</a><b>£1.20</b></div>
         <div class=p><a href=/2>Penne 500 g</a><b>£1.10</b></div><div class=p><a href=/3>Basmati Rice 1 kg</a><b>£2.30</b></div>",
    );
    check_none(
        "<title>Red wine – Cellar Direct</title><h1>Red wine</h1><ul><li>Chianti 2019 <b>€12.90</b> <button>Add to basket</button></li>
         <li>Rioja 2018 <b>€10.50</b> <button>Add to basket</button></li></ul>",
    );
    check_none(
        "<title>Coffee beans | Roastery</title><h2>Coffee</h2><ul><li>Espresso blend 250 g €9.50 <button>Add to cart</button></li>
         <li>Filter coffee 250 g €10.50 <button>Add to cart</button></li></ul>",
    );
    check_none(
        "<title>Weekly offers</title><h1>Angebote der Woche</h1><h2>Getränke</h2><ul><li>Cola 1,5 l 0,99 €</li><li>Bier Kasten 12,99 €</li></ul>
         <h2>Käse</h2><ul><li>Gouda 400 g 2,99 €</li><li>Brie 200 g 1,79 €</li></ul>",
    );
}

#[test]
fn services() {
    check_none(
        "<title>Nail Bar Menu</title><h1>Our Menu</h1><h2>Manicure</h2><ul><li>Classic manicure £20</li><li>Gel nails £32</li></ul>
         <h2>Pedicure</h2><ul><li>Classic pedicure £28</li></ul>",
    );
    check_none(
        "<title>Spa Menu – Lotus</title><h2>Massage</h2><table><tr><td>Hot stone massage</td><td>$90</td></tr><tr><td>Thai massage</td><td>$80</td></tr></table>",
    );
    check_none(
        "<title>Preise | Textilreinigung Weiß</title><h2>Hemden</h2><ul><li>Hemd 2,50 €</li><li>Bluse 4,50 €</li></ul><h2>Anzug</h2><ul><li>Hose 6,00 €</li></ul>",
    );
    check_none(
        "<title>Tarifs - Garage Dupont</title><h1>Nos tarifs</h1><ul><li>Vidange 69 €</li><li>Pneus 25 €</li><li>Révision 149 €</li></ul>",
    );
    check_none(
        "<title>Fahrschule Schnell</title><h1>Preise</h1><ul><li>Grundbetrag 350,00 €</li><li>Fahrstunde 65,00 €</li></ul>",
    );
}

#[test]
fn hotels() {
    check_none(
        "<title>Hotel Alpenblick – Extras</title><h1>Preise &amp; Extras</h1><ul><li>Frühstücksbuffet 18,00 €</li><li>Parkplatz 12,00 €</li>
         <li>Hund 15,00 €</li><li>Late Check-out 25,00 €</li><li>Flasche Wein aufs Zimmer 22,00 €</li></ul>",
    );
    check_none(
        "<title>Rooms | Seaside Hotel & Restaurant</title><h2>Rooms</h2><table><tr><td>Single room</td><td>€80</td></tr><tr><td>Double room</td><td>€120</td></tr></table>
         <h2>Extras</h2><table><tr><td>Breakfast</td><td>€14</td></tr><tr><td>Parking</td><td>€10</td></tr></table>",
    );
}

#[test]
fn recipes_and_articles() {
    check_none(
        "<title>Pizza recipe</title><h1>Pizza Margherita</h1><h2>Ingredients</h2><table><tr><td>Flour</td><td>500</td></tr><tr><td>Water</td><td>325</td></tr>
         <tr><td>Salt</td><td>10</td></tr><tr><td>Yeast</td><td>3</td></tr></table>",
    );
    check_none(
        "<title>What a meal costs in Rome</title><article><h1>Food prices in Rome</h1><ul><li>Pizza 8 €</li><li>Pasta 10 €</li><li>Beer 5 €</li></ul></article>",
    );
    check_none(
        "<title>The 5 best restaurants in Berlin</title><h2>1. Luce</h2><p>Italian. Menu 45 €</p><h2>2. Koi</h2><p>Sushi. Menu 60 €</p>",
    );
}

#[test]
fn other_things_called_menu() {
    check_none(
        "<title>Menu</title><nav><ul><li><a href=/a>Pizza</a></li><li><a href=/b>Pasta</a></li></ul></nav><h1>Menu</h1>",
    );
    check_none(
        "<title>Plan menu – CloudHost</title><h1>Menu of plans</h1><ul><li>Starter $5</li><li>Business $25</li><li>Enterprise $99</li></ul>",
    );
    check_none(
        "<title>Festival menu of tickets</title><h1>Menu</h1><ul><li>Day ticket €25</li><li>Weekend ticket €60</li><li>Camping pitch €15</li></ul>",
    );
    check_none(
        "<title>Pizzeria Roma</title><h1>Pizzeria Roma</h1><p>Lunch from 9,90 € on weekdays. Call us!</p><p>Open 11.00–22.00</p>",
    );
    check_none(
        "<title>Menu | Taverna</title><h1>Menu</h1><p>Please ask our staff. <a href=menu.pdf>Menu (PDF)</a></p>",
    );
}
