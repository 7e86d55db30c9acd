//! Markup of site builders and of hands.

use crate::{check, check_none};

#[test]
fn prices_before_names() {
    check(
        "<title>Menu | The Anchor Pub</title><h2>Starters</h2><ul><li><span class=price>£5</span> Soup of the day</li>
         <li><span class=price>£7.50</span> Prawn cocktail</li></ul>",
        "The Anchor Pub | GBP\n# Starters\nSoup of the day | 5\nPrawn cocktail | 7.5",
    );
}

#[test]
fn tabs_name_their_sections() {
    check(
        "<title>Menu - Cafe Uno</title><div role=tablist><button role=tab id=t1 aria-controls=p1>Breakfast</button><button role=tab id=t2>Lunch</button></div>
         <div role=tabpanel id=p1><ul><li>Pancakes £7</li><li>Porridge £5</li></ul></div>
         <div role=tabpanel aria-labelledby=t2 hidden><ul><li>Club sandwich £9</li></ul></div>",
        "Cafe Uno | GBP\n# Breakfast\nPancakes | 7\nPorridge | 5\n# Lunch\nClub sandwich | 9",
    );
}

#[test]
fn items_without_a_price_of_their_own() {
    check(
        "<title>Seafood Restaurant Menu</title><h2>Mains</h2><ul><li>Cod £15</li><li>Lobster – market price</li><li>Mussels £13</li></ul>",
        "Seafood Restaurant | GBP\n# Mains\nCod | 15\nLobster\nMussels | 13",
    );
}

#[test]
fn parts_that_only_classes_tell_apart() {
    check(
        "<title>Menu Trattoria Sol</title><h2>Pasta</h2><ul><li><span class=item-name>Lasagne</span><span class=item-desc>Beef ragù</span><span class=item-price>12,50 €</span></li>
         <li><span class=item-name>Gnocchi</span><span class=item-desc>Gorgonzola</span><span class=item-price>11,00 €</span></li></ul>",
        "Trattoria Sol | EUR\n# Pasta\nLasagne | 12.5 | Beef ragù\nGnocchi | 11 | Gorgonzola",
    );
}

#[test]
fn the_name_in_the_footer_and_numbers_in_cells() {
    check(
        "<title>Speisekarte</title><h1>Speisekarte</h1><h2>Suppen</h2><table><tr><td>1</td><td>Pho Bo<br>Rindfleisch, Reisnudeln</td><td>9,90 €</td></tr>
         <tr><td>2</td><td>Pho Ga<br>Huhn</td><td>9,50 €</td></tr></table><footer>© 2024 Pho House. Alle Rechte vorbehalten.</footer>",
        "Pho House | EUR\n# Suppen\nPho Bo | 9.9 | Rindfleisch, Reisnudeln | no 1\nPho Ga | 9.5 | Huhn | no 2",
    );
}

#[test]
fn two_dishes_in_a_row_and_codes_of_allergens() {
    check(
        "<title>Menu – Grill House</title><h2>Grill</h2><table><tr><td>Chicken skewer <small>(A,C)</small></td><td>8.50 €</td><td>Lamb kebab</td><td>9.50 €</td></tr>
         <tr><td>Steak</td><td>18.00 €</td><td>Fish fillet</td><td>12.00 €</td></tr></table><p>A gluten, C eggs, G milk</p>",
        "Grill House | EUR\n# Grill\nChicken skewer | 8.5\nLamb kebab | 9.5\nSteak | 18\nFish fillet | 12",
    );
}

#[test]
fn courses_packages_and_minibars_are_none() {
    check_none(
        "<title>Cooking classes – La Cucina</title><h2>Classes</h2><ul><li>Pasta workshop 65 €</li><li>Sushi workshop 75 €</li></ul>",
    );
    check_none(
        "<title>Wedding packages – Villa Rosa</title><h1>Packages</h1><ul><li>Silver: cocktails and buffet €80 per person</li><li>Gold: dinner €120 per person</li></ul>",
    );
    check_none(
        "<title>Minibar | Grand Hotel</title><h1>Minibar prices</h1><ul><li>Cola 4 €</li><li>Beer 5 €</li><li>Peanuts 4 €</li></ul>",
    );
    check_none(
        "<title>Restaurant equipment – Gastro Shop</title><h1>Pizza ovens</h1><ul><li>Pizza oven single 899 €</li><li>Dough mixer 499 €</li></ul>",
    );
}
