/** Names of types, apart by white space. */
function types(names: string): readonly string[] {
  return names.trim().split(/\s+/);
}

/** Article and its subtypes, as schema.org lists them. */
export const ARTICLES = types(`
  Article NewsArticle BlogPosting AdvertiserContentArticle AnalysisNewsArticle AskPublicNewsArticle
  OpinionNewsArticle ReportageNewsArticle ReviewNewsArticle BackgroundNewsArticle TechArticle ScholarlyArticle
  MedicalScholarlyArticle Report SatiricalArticle LiveBlogPosting
`);

/** Event and its subtypes, without those of broadcasts and deliveries. */
export const EVENTS = types(`
  Event BusinessEvent ChildrensEvent ComedyEvent ConferenceEvent CourseInstance DanceEvent EducationEvent
  EventSeries ExhibitionEvent Festival FoodEvent Hackathon LiteraryEvent MusicEvent SaleEvent ScreeningEvent
  SocialEvent SportsEvent TheaterEvent VisualArtsEvent
`);

/** LocalBusiness and its subtypes. */
export const BUSINESSES = types(`
  LocalBusiness AccountingService AdultEntertainment AmusementPark AnimalShelter ArchiveOrganization ArtGallery
  Attorney AutoBodyShop AutoDealer AutoPartsStore AutoRental AutoRepair AutoWash AutomatedTeller
  AutomotiveBusiness Bakery BankOrCreditUnion BarOrPub BeautySalon BedAndBreakfast BikeStore BookStore
  BowlingAlley Brewery CafeOrCoffeeShop Campground Casino ChildCare ClothingStore ComedyClub CommunityHealth
  ComputerStore ConvenienceStore CovidTestingFacility DaySpa Dentist DepartmentStore Dermatology DietNutrition
  Distillery DryCleaningOrLaundry Electrician ElectronicsStore Emergency EmergencyService EmploymentAgency
  EntertainmentBusiness ExerciseGym FastFoodRestaurant FinancialService FireStation Florist FoodEstablishment
  FurnitureStore GardenStore GasStation GeneralContractor Geriatric GolfCourse GovernmentOffice GroceryStore
  Gynecologic HVACBusiness HairSalon HardwareStore HealthAndBeautyBusiness HealthClub HobbyShop
  HomeAndConstructionBusiness HomeGoodsStore Hospital Hostel Hotel HousePainter IceCreamShop IndividualPhysician
  InsuranceAgency InternetCafe JewelryStore LegalService Library LiquorStore Locksmith LodgingBusiness
  MedicalBusiness MedicalClinic MedicalSpa MensClothingStore Midwifery MobilePhoneStore Motel MotorcycleDealer
  MotorcycleRepair MovieRentalStore MovieTheater MovingCompany MusicStore NailSalon NightClub Notary Nursing
  Obstetric OfficeEquipmentStore Oncologic Optician Optometric Otolaryngologic OutletStore PawnShop Pediatric
  PetStore Pharmacy Physician PhysiciansOffice Physiotherapy PlasticSurgery Plumber Podiatric PoliceStation
  PostOffice PrimaryCare ProfessionalService Psychiatric PublicHealth PublicSwimmingPool RVPark RadioStation
  RealEstateAgent RecyclingCenter Resort Restaurant RoofingContractor SelfStorage ShoeStore ShoppingCenter
  SkiResort SportingGoodsStore SportsActivityLocation SportsClub StadiumOrArena Store TattooParlor TelevisionStation
  TennisComplex TireShop TouristInformationCenter ToyStore TravelAgency VacationRental VeterinaryCare
  WholesaleStore Winery
`);

/** Organization and its common subtypes. */
export const ORGANIZATIONS = types(`
  Organization OnlineBusiness OnlineStore Corporation NGO EducationalOrganization CollegeOrUniversity School
  GovernmentOrganization NewsMediaOrganization MedicalOrganization PerformingGroup MusicGroup SportsOrganization
  SportsTeam Airline Consortium ResearchOrganization
`);

/** Product and its common subtypes. */
export const PRODUCTS = types(`
  Product IndividualProduct ProductModel SomeProducts Vehicle Car
`);
